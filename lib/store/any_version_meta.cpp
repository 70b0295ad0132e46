#include "store/any_version_meta.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "store/database.hpp"
#include "store/pages/page_guard.hpp"
#include "store/read_failure.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxValueBytes = 4 << 20;

struct Closer {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using UnlockedDb = std::unique_ptr<sqlite3, Closer>;
using Query = std::unique_ptr<sqlite3_stmt, Closer>;

// Throws if the failure says nothing about the file's content.
void check_readable(sqlite3* db, const fs::path& path) {
  interrupt::check();
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
  if (says_nothing_of_content(code))
    throw Error(Exit::partial_data,
                fmt::format("cannot read the store {}: {}", path.string(), sqlite3_errstr(code)));
}

UnlockedDb open_unlocked(const fs::path& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(immutable_address(path).c_str(), &db,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
                                   pages::guarded_vfs());
  UnlockedDb opened(db);
  if (code != SQLITE_OK) check_readable(db, path);
  if (code != SQLITE_OK) return nullptr;
  pages::end_on_interrupt(db);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  return opened;
}

Query prepare(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  return Query(statement);
}

// Returns an empty text for NULL.
std::string read_text(sqlite3_stmt* row, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  const int bytes = sqlite3_column_bytes(row, column);
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(bytes));
}

// Checks that `meta` is our table: another program's database may have a view with that name.
bool has_our_meta(sqlite3* db) {
  const auto& tables = store_tables();
  const auto meta = std::find_if(tables.begin(), tables.end(),
                                 [](const StoreTable& table) { return table.name == "meta"; });
  const Query read = prepare(db,
                             "SELECT application_id, sql FROM pragma_application_id, sqlite_schema"
                             " WHERE type = 'table' AND name = 'meta' ORDER BY 1");
  return read && sqlite3_step(read.get()) == SQLITE_ROW &&
         sqlite3_column_int(read.get(), 0) == kApplicationId &&
         read_text(read.get(), 1) == create_statement(*meta);
}

}  // namespace

std::string read_any_meta(const fs::path& path, std::string_view key) {
  const auto texts = read_any_metas(path, {&key, 1});
  return texts.empty() ? std::string() : texts.front();
}

std::vector<std::string> read_any_metas(const fs::path& path,
                                        std::span<const std::string_view> keys) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  const UnlockedDb db = open_unlocked(path);
  if (!db) return {};
  if (!has_our_meta(db.get())) {
    check_readable(db.get(), path);
    return {};
  }
  const Query read = prepare(db.get(), "SELECT value FROM meta WHERE key = ?");
  if (!read) return {};
  std::vector<std::string> texts;
  for (const std::string_view key : keys) {
    sqlite3_reset(read.get());
    sqlite3_bind_text(read.get(), 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
    const int code = sqlite3_step(read.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
      check_readable(db.get(), path);
      return {};  // damaged
    }
    texts.push_back(code == SQLITE_ROW ? read_text(read.get(), 0) : std::string());
  }
  return texts;
}

}  // namespace msprof
