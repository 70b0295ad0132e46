#include "floors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "command_runs.hpp"
#include "store/cells.hpp"
#include "store/database.hpp"
#include "store/pages/pages.hpp"

namespace msprof::bench {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChunkRows = 50'000;
constexpr std::int64_t kInsertedRows = 5'000'000;
constexpr int kInsertedColumns = 10;
constexpr int kPageBytes = 16384;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A table that msprof's page code can write: integer columns, or an id and a text. Other tables are
// small.
struct Table {
  std::string name;
  std::string sql;
  std::vector<pages::ColumnStorage> columns;  // empty: an id and a text
};

std::optional<Table> describe(const Database& db, const std::string& name, const std::string& sql) {
  Table table{name, sql, {}};
  std::vector<std::string> types;
  Statement columns = db.prepare("SELECT iif(pk, 'id', type) FROM pragma_table_info(?)");
  columns.bind(1, name);
  while (columns.step()) types.emplace_back(columns.text(0));
  if (types == std::vector<std::string>{"id", "TEXT"}) return table;
  for (const std::string& type : types) {
    if (type == "id") {
      table.columns.push_back(pages::ColumnStorage::id);
    } else if (type == "INTEGER") {
      table.columns.push_back(pages::ColumnStorage::integer);
    } else if (type == "NUMERIC") {
      table.columns.push_back(pages::ColumnStorage::numeric_double);
    } else if (type == "REAL") {
      table.columns.push_back(pages::ColumnStorage::real_double);
    } else {
      return std::nullopt;
    }
  }
  return table;
}

std::vector<Table> read_tables(const Database& db) {
  std::vector<Table> tables;
  Statement read = db.prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  while (read.step()) {
    if (auto table = describe(db, std::string(read.text(0)), std::string(read.text(1))))
      tables.push_back(std::move(*table));
  }
  return tables;
}

double make_table(const Database& from, Database& to, pages::Writer& file, const Table& table) {
  to.execute(table.sql);
  Statement root = to.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
  root.bind(1, table.name);
  if (!root.step()) return 0;
  const auto builder = file.append(static_cast<std::uint32_t>(root.integer(0)), table.columns);
  root.reset();
  Statement read = from.prepare(fmt::format("SELECT * FROM \"{}\"", table.name));
  double seconds = 0;
  std::vector<std::int64_t> cells;
  std::vector<std::string> texts;
  const auto build = [&] {
    const auto start = Clock::now();
    const std::size_t width = table.columns.size();
    if (width != 0 && builder->add(cells, cells.size() / width) != cells.size() / width) {
      fmt::print(stderr, "{} is not in the order of its ids\n", table.name);
      std::exit(1);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) builder->add_text(cells[i], texts[i]);
    cells.clear();
    texts.clear();
    seconds += seconds_since(start);
  };
  for (std::size_t rows = 1; read.step(); ++rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const bool is_real = table.columns[i] == pages::ColumnStorage::numeric_double ||
                           table.columns[i] == pages::ColumnStorage::real_double;
      const int column = static_cast<int>(i);
      cells.push_back(read.is_null(column) ? kNull
                      : is_real            ? std::bit_cast<std::int64_t>(read.real(column))
                                           : read.integer(column));
    }
    if (table.columns.empty()) {
      cells.push_back(read.integer(0));
      texts.emplace_back(read.text(1));
    }
    if (rows % kChunkRows == 0) build();
  }
  build();
  const auto start = Clock::now();
  builder->finish();
  return seconds + seconds_since(start);
}

double make_pages(const fs::path& store, const fs::path& copy) {
  fs::remove(copy);
  const Database from = Database::open_read_only(store);
  Database to = Database::create(copy, kPageBytes);
  to.execute("CREATE TABLE first (id INTEGER PRIMARY KEY)");
  const auto file = pages::Writer::open(to.handle());
  double seconds = 0;
  for (const Table& table : read_tables(from)) seconds += make_table(from, to, *file, table);
  return seconds;
}

double read_pages(const fs::path& store, const fs::path&) {
  Database db = Database::open_read_only(store);
  db.read_by_pages();
  if (!db.reads_pages()) {
    fmt::print(stderr, "{} cannot be read by pages\n", store.string());
    std::exit(1);
  }
  const auto tables = read_tables(db);
  const auto start = Clock::now();
  for (const Table& table : tables) {
    if (table.columns.empty()) continue;
    std::vector<std::size_t> wanted(table.columns.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    std::vector<std::int64_t> cells(wanted.size());
    const auto rows = db.read_pages(table.name, wanted, {});
    while (rows && rows->next(cells.data())) {
    }
  }
  return seconds_since(start);
}

double insert_rows(const fs::path& path, const fs::path&) {
  fs::remove(path);
  Database db = Database::create(path, kPageBytes);
  std::string columns = "a0";
  std::string places = "?";
  for (int i = 1; i < kInsertedColumns; ++i) {
    columns += fmt::format(", a{}", i);
    places += ",?";
  }
  db.execute(fmt::format("CREATE TABLE t ({}); BEGIN", columns));
  Statement insert = db.prepare(fmt::format("INSERT INTO t VALUES({})", places));
  const auto start = Clock::now();
  for (std::int64_t row = 0; row < kInsertedRows; ++row) {
    for (int i = 0; i < kInsertedColumns; ++i) insert.bind(i + 1, row * 1000 + i);
    insert.step();
    insert.reset();
  }
  db.execute("COMMIT");
  return seconds_since(start);
}

double read_files(const fs::path& folder, const fs::path&) {
  std::vector<char> block(1 << 20);
  const auto start = Clock::now();
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && ::read(fd, block.data(), block.size()) > 0) {
    }
    if (fd >= 0) ::close(fd);
  }
  return seconds_since(start);
}

}  // namespace

double insert_seconds(const fs::path& database) {
  const double seconds = seconds_in_child(insert_rows, database, {});
  fs::remove(database);
  return seconds;
}

double read_once_seconds(const fs::path& folder) {
  return seconds_in_child(read_files, folder, {});
}

double read_pages_seconds(const fs::path& store) {
  return seconds_in_child(read_pages, store, {});
}

double make_pages_seconds(const fs::path& store, const fs::path& copy) {
  const double seconds = seconds_in_child(make_pages, store, copy);
  fs::remove(copy);
  return seconds;
}

}  // namespace msprof::bench
