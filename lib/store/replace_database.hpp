// A new database in the place of an older one. For the store and for the unified database.
// What another program left beside the old one (its -wal, -shm or -journal) would be applied to the
// new one by whoever opens it next, and spoil it: it goes together with the old one, or, while a
// program holds that open, nothing is touched.
#pragma once

#include <filesystem>

namespace msprof {

// Throws Error(database_in_use) while another program has `target` open and files of its own beside
// it. Asked before the work, too, which can take minutes.
void check_replaceable(const std::filesystem::path& target);

// Renames the finished `temporary` to `target`. Throws as above, and Error(cannot_write).
void replace_database(const std::filesystem::path& temporary, const std::filesystem::path& target);

}  // namespace msprof
