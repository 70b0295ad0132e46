#include "store/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

namespace msprof {

namespace {

// Tables with text, read by people and programs.
const std::vector<StoreTable>& text_tables() {
  static const std::vector<StoreTable> tables = {
      {"name", {"id INTEGER PRIMARY KEY", "text TEXT NOT NULL"}},
      {"meta", {"key TEXT PRIMARY KEY", "value TEXT NOT NULL"}},
      {"raw_file",
       {"name TEXT NOT NULL", "size_bytes INTEGER NOT NULL", "mtime_ns INTEGER NOT NULL"}},
      {"import_log",
       {"severity TEXT NOT NULL", "category TEXT NOT NULL", "kind TEXT NOT NULL",
        "file TEXT NOT NULL", "reason TEXT NOT NULL", "count INTEGER NOT NULL",
        "first_offset INTEGER", "detail TEXT NOT NULL", "id TEXT NOT NULL"}}};
  return tables;
}

}  // namespace

const std::vector<StoreTable>& store_tables() {
  static const std::vector<StoreTable> all = [] {
    auto tables = make_tables(static_cast<BulkRows*>(nullptr));
    tables.insert(tables.end(), text_tables().begin(), text_tables().end());
    return tables;
  }();
  return all;
}

std::string create_statement(const StoreTable& table) {
  return fmt::format("CREATE TABLE {} ({})", table.name, fmt::join(table.columns, ", "));
}

std::string create_statement(const StoreIndex& index) {
  return fmt::format("CREATE INDEX {} ON {}", index.name, index.on);
}

bool has_tables(const Database& db, const std::vector<StoreTable>& tables) {
  std::map<std::string, std::string, std::less<>> expected;
  for (const StoreTable& table : tables) expected[table.name] = create_statement(table);
  Statement read = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'index'");
  while (read.step()) {
    const auto known = expected.find(read.text(1));
    if (read.text(0) != "table" || known == expected.end() || known->second != read.text(2))
      return false;
    expected.erase(known);
  }
  return expected.empty();
}

bool has_our_tables(const Database& db) {
  if (!has_tables(db, store_tables())) return false;
  Statement read = db.prepare(
      "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ? AND sql = ? ORDER BY rowid");
  return std::all_of(kStoreIndexes.begin(), kStoreIndexes.end(), [&](const StoreIndex& index) {
    read.reset();
    return read.bind(1, index.name).bind(2, create_statement(index)).step();
  });
}

std::string read_meta(const Database& db, std::string_view key) {
  Statement read = db.prepare("SELECT value FROM meta WHERE key = ?");
  read.bind(1, key);
  return read.step() ? std::string(read.text(0)) : std::string();
}

std::optional<std::int64_t> read_meta_integer(const Database& db, std::string_view key) {
  const std::string text = read_meta(db, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace msprof
