// What is wrong with SQL, in words: for SqlGuard.
#pragma once

#include <string>
#include <string_view>

struct sqlite3;

namespace msprof {

// About the last error of `db`, which is in `sql`: SQLite's message, the place, and for a name that
// is not there the nearest ones.
std::string words_about_sql(sqlite3* db, std::string_view sql);

}  // namespace msprof
