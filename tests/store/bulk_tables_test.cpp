#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "store/bulk_tables.hpp"
#include "store/database_dump.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

// A database under construction, with a connection that reads it.
struct Made {
  explicit Made(int page_bytes = 4096) : db(Database::create(path, page_bytes)) {
    db.execute("CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    tables.emplace(db, "name");
  }
  void add(std::size_t table, const Cells& cells) {
    std::memcpy(tables->add_row(table), cells.data(), cells.size() * sizeof cells[0]);
  }
  Database reader() {
    tables->drain();
    return Database::open_read_only(path);
  }

  TempFolder folder;
  std::filesystem::path path = folder / "made.db";
  Database db;
  std::optional<BulkTables> tables;
};

}  // namespace

TEST_CASE("columns that SQLite checks or converts are written by SQLite") {
  const std::string column = GENERATE("a TEXT", "a", "a REAL", "a INTEGER DEFAULT 3",
                                      "a INTEGER NOT NULL", "a INTEGER UNIQUE");
  const Lines columns = {"id INTEGER PRIMARY KEY", column};
  const std::vector<Cells> rows = {{1, 4}, {2, 5}, {3, 70'000}};
  Made made;
  const auto table = made.tables->create("t", columns);
  for (const Cells& row : rows) made.add(table, row);
  const Database reader = made.reader();
  CHECK(dump(reader, "t", columns) == stored_by_sqlite(columns, 0, rows));
  CHECK(is_whole(reader));
}

TEST_CASE("rows out of order are accepted, with the rows before and after them") {
  const Cells ids = GENERATE(Cells{1, 2, 5, 4, 6, 7}, Cells{-3, 1, 0, 2}, Cells{5, 4, 3, 2, 1},
                             Cells{INT64_MAX, 1, 2}, Cells{3, kNull, 9, kNull}, Cells{-5, kNull});
  const int repeats = GENERATE(1, 700);  // more than one batch
  const Lines columns = {"id INTEGER PRIMARY KEY", "a INTEGER"};
  std::vector<Cells> rows;
  for (int i = 0; i < repeats; ++i) {
    for (const std::int64_t id : ids) {
      const bool is_shifted = id != kNull && id < INT64_MAX;
      if (!is_shifted && i > 0) continue;
      rows.push_back({is_shifted ? id + 10 * i : id, id == kNull ? 1 : id});
    }
  }
  Made made(512);
  const auto table = made.tables->create("t", columns);
  for (const Cells& row : rows) made.add(table, row);
  const Database reader = made.reader();
  CHECK(dump(reader, "t", columns) == stored_by_sqlite(columns, 0, rows));
  CHECK(is_whole(reader));
}

TEST_CASE("a duplicate id is an error") {
  Made made;
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY"});
  for (const std::int64_t id : {1, 2, 3, 2}) made.add(table, {id});
  CHECK_THROWS_WITH(made.tables->drain(), Catch::Matchers::Contains("UNIQUE"));
}

TEST_CASE("tables grow alternately and are read in between") {
  const int page_bytes = GENERATE(512, 32768);
  Made made(page_bytes);
  const Lines columns = {"id INTEGER PRIMARY KEY", "a INTEGER"};
  const auto one = made.tables->create("one", columns);
  const auto two = made.tables->create("two", Lines{"a INTEGER", "b INTEGER"});
  std::int64_t rows = 0;
  for (const std::int64_t step : {1, 1, 40, 1, 2000, 5, 30'000, 3, 3000, 1}) {
    for (std::int64_t i = 0; i < step; ++i) {
      ++rows;
      made.add(one, {rows, rows * 1000});
      if (rows % 3 == 0) made.add(two, {rows, -rows});
      if (rows % 50 == 0) made.tables->add_text(rows / 50, std::to_string(rows));
    }
    if (step == 2000) made.tables->create("three", columns);
    const Database reader = made.reader();
    CHECK(is_whole(reader));
    CHECK(lines(reader, "SELECT count(*), sum(a) FROM one") ==
          Lines{fmt::format("{}|{}", rows, rows * (rows + 1) / 2 * 1000)});
    CHECK(lines(reader, "SELECT count(*), max(rowid), count(*) * 3 FROM two WHERE a = -b") ==
          Lines{rows < 3 ? "0|NULL|0" : fmt::format("{0}|{0}|{1}", rows / 3, rows / 3 * 3)});
    CHECK(lines(reader, "SELECT count(*) FROM name WHERE text = id * 50") ==
          Lines{std::to_string(rows / 50)});
    made.db.execute(fmt::format("CREATE TABLE own{0} (a); INSERT INTO own{0} VALUES(1)", rows));
  }
  CHECK(is_whole(made.reader()));
}

TEST_CASE("a table with an index is written by SQLite, so that the index has its rows") {
  const bool is_before = GENERATE(false, true);
  Made made;
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  const auto other = made.tables->create("u", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  if (!is_before) made.add(table, {1, 5});
  made.tables->execute("CREATE INDEX t_by_a ON t(a)");
  for (std::int64_t id = 2; id < 5000; ++id) {
    made.add(table, {id, id % 7});
    made.add(other, {id, id});
  }
  const Database reader = made.reader();
  CHECK(is_whole(reader));
  CHECK(lines(reader, "SELECT count(*) FROM t INDEXED BY t_by_a WHERE a = 5") ==
        lines(reader, "SELECT count(*) FROM t NOT INDEXED WHERE a = 5"));
  CHECK(lines(reader, "SELECT count(*) FROM u") == Lines{"4998"});
}

TEST_CASE("SQLite can write to a finished database") {
  Made made(512);
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  for (std::int64_t id = 1; id <= 20'000; ++id) made.add(table, {id, id});
  for (std::int64_t id = 1; id <= 300; ++id) made.tables->add_text(id, std::string(400, 'x'));
  made.tables->drain();
  made.tables.reset();
  Database& db = made.db;
  db.execute(
      "DELETE FROM t WHERE id % 3 = 0; UPDATE t SET a = a * 1000000000 WHERE id % 2 = 0;"
      "INSERT INTO t(a) VALUES(-1); DELETE FROM name WHERE id < 200;"
      "CREATE INDEX t_by_a ON t(a); INSERT INTO t SELECT id + 1000000, a FROM t");
  CHECK(is_whole(db));
  CHECK(lines(db, "SELECT count(*), max(id), sum(a = id) FROM t WHERE id <= 20001") ==
        Lines{"13335|20001|6667"});
  db.execute("VACUUM");
  CHECK(is_whole(db));
  CHECK(lines(db, "SELECT count(*) FROM t") == Lines{"26670"});
}

TEST_CASE("the same rows give the same bytes") {
  const auto make = [] {
    Made made;
    const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
    for (std::int64_t id = 1; id <= 50'000; ++id) {
      made.add(table, {id, id * id});
      if (id % 9 == 0) made.tables->add_text(id, std::to_string(id));
      if (id == 30'000) made.tables->drain();
    }
    made.tables->drain();
    return read_file(made.path);
  };
  CHECK((make() == make()));
}

TEST_CASE("a store can be read while rows of other tables, names and values are written") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  for (std::int64_t id = 1; id <= 15'000; ++id) writer.add(DeviceRow{id, kNull, id});
  Statement devices = writer.readable().prepare("SELECT id FROM device ORDER BY id");
  std::int64_t last = 0;
  while (devices.step()) {
    CHECK(devices.integer(0) == last + 1);
    last = devices.integer(0);
    writer.add(MemoryBlockRow{last, 5, 6, 7});
    writer.name_id(std::to_string(last));
    if (last % 5'000 != 0) continue;
    writer.set_meta("key", std::to_string(last));
    // The first statement continues its consistent read.
    CHECK(lines(writer.readable(),
                "SELECT count(*), (SELECT count(*) FROM name),"
                " (SELECT value FROM meta) FROM memory_block") ==
          Lines{fmt::format("{0}|{0}|{0}", last)});
  }
  CHECK(last == 15'000);
  writer.publish();
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  CHECK(is_whole(store->database()));
  CHECK(names_in(folder.path()) == Lines{"msprof.db"});
}
