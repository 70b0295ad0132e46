#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "store/bulk_tables.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using Lines = std::vector<std::string>;
using Cells = std::vector<std::int64_t>;

// Each row as one line.
Lines lines(const Database& db, const std::string& sql) {
  Lines result;
  Statement read = db.prepare(sql);
  while (read.step()) {
    std::string line;
    for (int i = 0; i < read.column_count(); ++i) {
      if (i > 0) line += "|";
      line += read.is_null(i) ? "NULL" : std::string(read.text(i));
    }
    result.push_back(line);
  }
  return result;
}

bool is_whole(const Database& db) {
  const Lines found = lines(db, "PRAGMA integrity_check");
  if (found != Lines{"ok"}) UNSCOPED_INFO(fmt::format("{}", fmt::join(found, "\n")));
  return found == Lines{"ok"};
}

// Every cell with its type.
Lines dump(const Database& db, const std::string& table, const Lines& columns) {
  std::string cells = "rowid";
  for (const std::string& column : columns) {
    const std::string name = column.substr(0, column.find(' '));
    cells += fmt::format(", typeof({0}), quote({0})", name);
  }
  return lines(db, fmt::format("SELECT {} FROM {} ORDER BY rowid", cells, table));
}

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

// The same rows, written only with SQLite statements.
Lines stored_by_sqlite(const Lines& columns, std::uint32_t real_columns,
                       const std::vector<Cells>& rows) {
  const TempFolder folder;
  Database db = Database::create(folder / "bare.db", 4096);
  db.execute(fmt::format("CREATE TABLE t ({})", fmt::join(columns, ", ")));
  std::string places = "?";
  for (std::size_t i = 1; i < columns.size(); ++i) places += ",?";
  Statement insert = db.prepare(fmt::format("INSERT INTO t VALUES({})", places));
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int parameter = static_cast<int>(i) + 1;
      if (row[i] == kNull) {
        insert.bind_null(parameter);
      } else if ((real_columns >> i & 1) != 0) {
        insert.bind(parameter, std::bit_cast<double>(row[i]));
      } else {
        insert.bind(parameter, row[i]);
      }
    }
    insert.run();
  }
  return dump(db, "t", columns);
}

std::vector<std::int64_t> integers_of_all_sizes() {
  std::vector<std::int64_t> values = {0, 1, -1, 2, kNull, INT64_MAX, INT64_MIN + 1};
  for (int bits = 7; bits < 63; bits += 4) {
    const std::int64_t power = std::int64_t{1} << bits;
    values.insert(values.end(), {power - 1, power, -power, -power - 1});
  }
  for (const int bits : {15, 23, 31, 47}) {
    const std::int64_t power = std::int64_t{1} << bits;
    values.insert(values.end(), {power - 1, power, -power, -power - 1});
  }
  return values;
}

std::vector<double> doubles_of_all_kinds() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = {0.0,  1.0,    -1.0,   0.5,     -0.25,  127.0, 128.0,
                                1e15, 1e18,   1e19,   -1e300,  5e-324, NAN,   kInfinity,
                                -0.0, 0x1p62, 0x1p63, -0x1p63, 1e100,  0.1,   -kInfinity};
  for (const int bits : {47, 52, 53, 62}) {
    const double power = std::ldexp(1.0, bits);
    values.insert(values.end(), {power - 1, power, power + 1, -power, -power - 1, -power + 1});
  }
  return values;
}

}  // namespace

TEST_CASE("integers of every size are stored as by SQLite itself") {
  const int page_bytes = GENERATE(512, 4096, 65536);
  const Lines columns = GENERATE(Lines{"id INTEGER PRIMARY KEY", "a INTEGER", "b NUMERIC"},
                                 Lines{"c INTEGER", "a INTEGER", "b NUMERIC"},
                                 Lines{"a INTEGER", "b NUMERIC", "id INTEGER PRIMARY KEY"});
  const bool is_id_last = columns.back().starts_with("id");
  std::vector<Cells> rows;
  std::int64_t id = 0;
  for (const std::int64_t a : integers_of_all_sizes()) {
    for (const std::int64_t b : integers_of_all_sizes()) {
      ++id;
      rows.push_back(is_id_last ? Cells{a, b, id} : Cells{id, a, b});
    }
  }
  Made made(page_bytes);
  const auto table = made.tables->create("t", columns);
  for (const Cells& row : rows) made.add(table, row);
  const Database reader = made.reader();
  CHECK(dump(reader, "t", columns) == stored_by_sqlite(columns, 0, rows));
  CHECK(is_whole(reader));
}

TEST_CASE("ids of every size are read back in order") {
  std::vector<std::int64_t> ids = integers_of_all_sizes();
  std::sort(ids.begin(), ids.end());
  ids.erase(ids.begin());  // no id
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Made made(512);
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  Lines expected;
  for (const std::int64_t id : ids) {
    made.add(table, {id, 7});
    expected.push_back(std::to_string(id));
  }
  const Database reader = made.reader();
  CHECK(lines(reader, "SELECT id FROM t ORDER BY id") == expected);
  CHECK(lines(reader, "SELECT count(*) FROM t WHERE id IN (SELECT id FROM t)") ==
        Lines{std::to_string(ids.size())});
  CHECK(is_whole(reader));
}

TEST_CASE("doubles are stored as by SQLite itself in a column of their type") {
  const std::string type = GENERATE("NUMERIC", "REAL", "INTEGER");
  const Lines columns = {"id INTEGER PRIMARY KEY", "a " + type, "b INTEGER"};
  std::vector<Cells> rows;
  std::int64_t id = 0;
  for (const double value : doubles_of_all_kinds())
    rows.push_back({++id, std::bit_cast<std::int64_t>(value), id});
  rows.push_back({++id, kNull, id});
  Made made;
  const auto table = made.tables->create("t", columns, 0b10);
  for (const Cells& row : rows) made.add(table, row);
  const Database reader = made.reader();
  CHECK(dump(reader, "t", columns) == stored_by_sqlite(columns, 0b10, rows));
  CHECK(is_whole(reader));
}

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

TEST_CASE("trees of any size are complete, from no row to three levels") {
  // Two rows fill a page of 512 bytes, and 34 pages fill one page above them.
  constexpr std::size_t kColumns = 25;
  Lines columns = {"id INTEGER PRIMARY KEY"};
  for (std::size_t i = 1; i < kColumns; ++i) columns.push_back(fmt::format("c{} INTEGER", i));
  std::vector<std::int64_t> sizes;
  for (std::int64_t rows = 0; rows < 12; ++rows) sizes.push_back(rows);
  for (const std::int64_t edge : {68, 136, 204, 2312, 2380})
    for (std::int64_t rows = edge - 4; rows <= edge + 4; ++rows) sizes.push_back(rows);
  Made made(512);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto table = made.tables->create(fmt::format("t{}", i), columns);
    for (std::int64_t id = 1; id <= sizes[i]; ++id) {
      Cells row(kColumns, INT64_MAX - id);
      row[0] = id;
      made.add(table, row);
    }
  }
  const Database reader = made.reader();
  CHECK(is_whole(reader));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t rows = sizes[i];
    INFO(rows);
    const auto counts = lines(
        reader, fmt::format("SELECT count(*), count(DISTINCT id), sum(9223372036854775807 - c24 ="
                            " id) FROM t{}",
                            i));
    CHECK(counts ==
          Lines{fmt::format("{0}|{0}|{1}", rows, rows == 0 ? "NULL" : std::to_string(rows))});
    const auto one = lines(reader, fmt::format("SELECT c1 FROM t{} WHERE id = {}", i, rows));
    CHECK(one == (rows == 0 ? Lines{} : Lines{std::to_string(INT64_MAX - rows)}));
  }
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

TEST_CASE("texts of any length and any bytes are read back") {
  const int page_bytes = GENERATE(512, 4096, 65536);
  const auto page = static_cast<std::size_t>(page_bytes);
  std::vector<std::string> texts = {"", "a", std::string("\0b\0", 3), "'\xff\xfe", "\n"};
  // Sizes near a full cell, near a full overflow page, and much larger.
  for (const std::size_t edge : {page - 35, page, page * 2 - 4, page + 500, page * 5})
    for (std::size_t bytes = edge - 12; bytes < edge + 12; ++bytes)
      texts.push_back(std::string(bytes, static_cast<char>('a' + bytes % 26)));
  texts.push_back(std::string(1 << 20, 'x'));
  Made made(page_bytes);
  std::int64_t id = 0;
  for (const std::string& text : texts) made.tables->add_text(++id, text);
  made.tables->add_text(-7, "out of order");
  made.tables->add_text(++id, "after it");
  const Database reader = made.reader();
  CHECK(is_whole(reader));
  Statement read = reader.prepare("SELECT id, text FROM name WHERE id > 0 ORDER BY id");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE(read.step());
    CHECK(read.integer(0) == static_cast<std::int64_t>(i + 1));
    CHECK((read.text(1) == texts[i]));
  }
  CHECK(lines(reader, "SELECT text FROM name WHERE id IN (-7, (SELECT max(id) FROM name))") ==
        Lines{"out of order", "after it"});
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

TEST_CASE("rows within a transaction are refused, because both would use the same pages") {
  Made made;
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  made.db.execute("BEGIN; CREATE TABLE u (a)");
  for (std::int64_t id = 1; id <= 5000; ++id) made.add(table, {id, id});
  CHECK_THROWS_WITH(made.tables->drain(), Catch::Matchers::Contains("transaction"));
}

TEST_CASE("the page used for locks is skipped") {
  constexpr int kPageBytes = 65536;
  constexpr std::uint32_t kLocked = 0x40000000 / kPageBytes + 1;
  Made made(kPageBytes);
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  // A sparse file that ends shortly before the locked page.
  std::filesystem::resize_file(made.path, std::uintmax_t{kLocked - 3} * kPageBytes);
  std::fstream file(made.path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(28);  // the number of pages, most significant byte first
  for (const int bits : {24, 16, 8, 0}) file.put(static_cast<char>((kLocked - 3) >> bits & 0xff));
  file.flush();
  for (std::int64_t id = 1; id <= 100'000; ++id) made.add(table, {id, id});
  const Database reader = made.reader();
  CHECK(lines(reader, "SELECT count(*), sum(a) FROM t") == Lines{"100000|5000050000"});
  file.seekg(std::streamoff{0x40000000});
  std::string page(kPageBytes, 'x');
  REQUIRE(file.read(page.data(), kPageBytes));
  CHECK((page == std::string(kPageBytes, '\0')));
}

TEST_CASE("a full disk is an error with a remedy") {
  Made made;
  const auto table = made.tables->create("t", Lines{"id INTEGER PRIMARY KEY", "a INTEGER"});
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{1 << 20, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  Exit code = Exit::ok;
  std::string sentence;
  try {
    for (std::int64_t id = 1; id <= 500'000; ++id) made.add(table, {id, id * 1'000'000});
    made.tables->drain();
  } catch (const Error& error) {
    code = error.code();
    sentence = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(code == Exit::cannot_write);
  CHECK(sentence == fmt::format("error in {}: disk I/O error (choose another folder with --output)",
                                made.path.string()));
}

TEST_CASE("a store can be read while rows of other tables, names and values are written") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  for (std::int64_t id = 1; id <= 30'000; ++id) writer.add(DeviceRow{id, kNull, id});
  Statement devices = writer.readable().prepare("SELECT id FROM device ORDER BY id");
  std::int64_t last = 0;
  while (devices.step()) {
    CHECK(devices.integer(0) == last + 1);
    last = devices.integer(0);
    writer.add(MemoryBlockRow{last, 5, 6, 7});
    writer.name_id(std::to_string(last));
    if (last % 10'000 != 0) continue;
    writer.set_meta("key", std::to_string(last));
    // The first statement continues its consistent read.
    CHECK(lines(writer.readable(),
                "SELECT count(*), (SELECT count(*) FROM name),"
                " (SELECT value FROM meta) FROM memory_block") ==
          Lines{fmt::format("{0}|{0}|{0}", last)});
  }
  CHECK(last == 30'000);
  writer.publish();
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  CHECK(is_whole(store->database()));
  CHECK(names_in(folder.path()) == Lines{"msprof.db"});
}
