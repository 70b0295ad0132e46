#include "cann_baselines.hpp"

#include <sqlite3.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "command_runs.hpp"

namespace msprof::bench {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChunkRows = 50'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Db = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

Db open(const fs::path& path, int flags) {
  sqlite3* db = nullptr;
  if (sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    fail("cannot open " + path.string());
  }
  return Db(db);
}

Statement prepare(const Db& db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    fail(sql + ": " + sqlite3_errmsg(db.get()));
  }
  return Statement(statement);
}

void execute(const Db& db, const std::string& sql) {
  if (sqlite3_exec(db.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(sql + ": " + sqlite3_errmsg(db.get()));
  }
}

struct Table {
  std::string name;
  std::string sql;
};

std::vector<Table> tables(const Db& db) {
  const auto read = prepare(db,
                            "SELECT name, sql FROM sqlite_master WHERE type='table' AND name NOT"
                            " LIKE 'sqlite_%' ORDER BY name");
  std::vector<Table> all;
  while (sqlite3_step(read.get()) == SQLITE_ROW) {
    const auto text = [&](int column) {
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(read.get(), column)));
    };
    all.push_back({text(0), text(1)});
  }
  return all;
}

// A cell: a number, the bits of a double, a text (its index in `texts`), or null.
struct Cell {
  std::int64_t value = 0;
  int type = SQLITE_NULL;
};

struct Chunk {
  std::size_t columns = 0;
  std::vector<Cell> cells;
  std::vector<std::string> texts;
  bool at_end = false;
};

// Reads the next rows; false at the end.
bool read_chunk(sqlite3_stmt* from, Chunk& chunk) {
  chunk.cells.clear();
  chunk.texts.clear();
  if (chunk.at_end) return false;  // sqlite3_step() after the last row would start over
  for (std::size_t row = 0; row < kChunkRows; ++row) {
    if (sqlite3_step(from) != SQLITE_ROW) {
      chunk.at_end = true;
      break;
    }
    for (int column = 0; column < static_cast<int>(chunk.columns); ++column) {
      Cell cell{0, sqlite3_column_type(from, column)};
      if (cell.type == SQLITE_INTEGER) {
        cell.value = sqlite3_column_int64(from, column);
      } else if (cell.type == SQLITE_FLOAT) {
        cell.value = std::bit_cast<std::int64_t>(sqlite3_column_double(from, column));
      } else if (cell.type != SQLITE_NULL) {
        cell.type = SQLITE_TEXT;
        cell.value = static_cast<std::int64_t>(chunk.texts.size());
        chunk.texts.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(from, column)));
      }
      chunk.cells.push_back(cell);
    }
  }
  return !chunk.cells.empty();
}

void insert_chunk(sqlite3_stmt* insert, const Chunk& chunk) {
  for (std::size_t at = 0; at < chunk.cells.size(); at += chunk.columns) {
    for (std::size_t column = 0; column < chunk.columns; ++column) {
      const Cell& cell = chunk.cells[at + column];
      const int number = static_cast<int>(column) + 1;
      if (cell.type == SQLITE_INTEGER) {
        sqlite3_bind_int64(insert, number, cell.value);
      } else if (cell.type == SQLITE_FLOAT) {
        sqlite3_bind_double(insert, number, std::bit_cast<double>(cell.value));
      } else if (cell.type == SQLITE_NULL) {
        sqlite3_bind_null(insert, number);
      } else {
        const std::string& text = chunk.texts[static_cast<std::size_t>(cell.value)];
        sqlite3_bind_text(insert, number, text.data(), static_cast<int>(text.size()),
                          SQLITE_STATIC);
      }
    }
    if (sqlite3_step(insert) != SQLITE_DONE) {
      fail(std::string(sqlite3_sql(insert)) + ": " + sqlite3_errmsg(sqlite3_db_handle(insert)));
    }
    sqlite3_reset(insert);
  }
}

double copy_table(const Db& from, const Db& to, const Table& table) {
  execute(to, table.sql);
  const auto read = prepare(from, "SELECT * FROM \"" + table.name + "\"");
  Chunk chunk;
  chunk.columns = static_cast<std::size_t>(sqlite3_column_count(read.get()));
  std::string marks = "?";
  for (std::size_t column = 1; column < chunk.columns; ++column) marks += ",?";
  const auto insert = prepare(to, "INSERT INTO \"" + table.name + "\" VALUES(" + marks + ")");
  double seconds = 0;
  while (read_chunk(read.get(), chunk)) {
    const auto start = Clock::now();
    insert_chunk(insert.get(), chunk);
    seconds += seconds_since(start);
  }
  return seconds;
}

double copy_all(const fs::path& store, const fs::path& copy) {
  fs::remove(copy);
  const Db from = open(store, SQLITE_OPEN_READONLY);
  const Db to = open(copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  execute(to,
          "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
          "PRAGMA locking_mode=EXCLUSIVE; PRAGMA secure_delete=OFF; PRAGMA cache_size=-16384;");
  execute(to, "BEGIN");
  double seconds = 0;
  for (const Table& table : tables(from)) seconds += copy_table(from, to, table);
  const auto start = Clock::now();
  execute(to, "COMMIT");
  return seconds + seconds_since(start);
}

}  // namespace

std::uint64_t rows_in(const fs::path& store) {
  const Db db = open(store, SQLITE_OPEN_READONLY);
  std::uint64_t rows = 0;
  for (const Table& table : tables(db)) {
    const auto count = prepare(db, "SELECT count(*) FROM \"" + table.name + "\"");
    sqlite3_step(count.get());
    rows += static_cast<std::uint64_t>(sqlite3_column_int64(count.get(), 0));
  }
  return rows;
}

double bare_copy_seconds(const fs::path& store, const fs::path& copy) {
  const double seconds = seconds_in_child(copy_all, store, copy);
  fs::remove(copy);
  return seconds;
}

double measure_bare_write(const fs::path& folder, const fs::path& file) {
  return bare_write_seconds(file, bytes_in(folder));
}

}  // namespace msprof::bench
