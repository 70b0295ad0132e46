#include "store/any_version_meta.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "store/database.hpp"
#include "store/read_failure.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Checks that `meta` is our table: another program's database may have a view with that name.
bool has_our_meta(const Database& db) {
  const auto& tables = store_tables();
  const auto meta = std::find_if(tables.begin(), tables.end(),
                                 [](const StoreTable& table) { return table.name == "meta"; });
  Statement read = db.prepare(
      "SELECT application_id, sql FROM pragma_application_id, sqlite_schema"
      " WHERE type = 'table' AND name = 'meta' ORDER BY 1");
  return read.step() && read.integer(0) == kApplicationId &&
         read.text(1) == create_statement(*meta);
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
  try {
    const Database db = Database::open_immutable(path);
    if (!has_our_meta(db)) return {};
    Statement read = db.prepare("SELECT value FROM meta WHERE key = ?");
    std::vector<std::string> texts;
    for (const std::string_view key : keys) {
      texts.emplace_back(read.bind(1, key).step() ? read.text(0) : "");
      read.reset();
    }
    return texts;
  } catch (const UnreadableDatabase&) {
    throw;
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return {};  // no database, or damaged
  }
}

}  // namespace msprof
