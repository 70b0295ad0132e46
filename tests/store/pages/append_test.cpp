// Tables that are appended to without SQL equal those that SQLite writes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "store/database_dump.hpp"
#include "store/pages/pages.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
using pages::ColumnStorage;

namespace {

const Lines kIdAndInteger = {"id INTEGER PRIMARY KEY", "a INTEGER"};

// The storage of an id and of columns of integers.
std::vector<ColumnStorage> storage_of(const Lines& columns) {
  std::vector<ColumnStorage> storage;
  for (const std::string& column : columns)
    storage.push_back(column.ends_with("KEY") ? ColumnStorage::id : ColumnStorage::integer);
  return storage;
}

// A database under construction, whose tables are appended to.
struct Made {
  explicit Made(int page_bytes = 4096) : db(Database::create(path, page_bytes)) {
    db.execute("CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
    file = pages::Writer::open(db.handle());
  }
  // Creates a table; `columns` as in SQL.
  std::unique_ptr<pages::TableWriter> create(const std::string& table, const Lines& columns,
                                             std::vector<ColumnStorage> storage) {
    db.execute(fmt::format("CREATE TABLE {} ({})", table, fmt::join(columns, ", ")));
    return append(table, std::move(storage));
  }
  std::unique_ptr<pages::TableWriter> append(const std::string& table,
                                             std::vector<ColumnStorage> storage) {
    Statement root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
    REQUIRE(root.bind(1, table).step());
    return file->append(static_cast<std::uint32_t>(root.integer(0)), std::move(storage));
  }

  TempFolder folder;
  std::filesystem::path path = folder / "made.db";
  Database db;
  std::unique_ptr<pages::Writer> file;
};

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
  const auto table = made.create("t", columns, storage_of(columns));
  for (const Cells& row : rows) REQUIRE(table->add(row, 1) == 1);
  table->finish();
  const Database reader = Database::open_read_only(made.path);
  CHECK(dump(reader, "t", columns) == stored_by_sqlite(columns, 0, rows));
  CHECK(is_whole(reader));
}

TEST_CASE("ids of every size are read back in order") {
  std::vector<std::int64_t> ids = integers_of_all_sizes();
  std::sort(ids.begin(), ids.end());
  ids.erase(ids.begin());  // no id
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Made made(512);
  const auto table = made.create("t", kIdAndInteger, storage_of(kIdAndInteger));
  Lines expected;
  for (const std::int64_t id : ids) {
    REQUIRE(table->add(Cells{id, 7}, 1) == 1);
    expected.push_back(std::to_string(id));
  }
  table->finish();
  const Database reader = Database::open_read_only(made.path);
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
  const auto storage = type == "REAL" ? ColumnStorage::real_double : ColumnStorage::numeric_double;
  const auto table =
      made.create("t", columns, {ColumnStorage::id, storage, ColumnStorage::integer});
  for (const Cells& row : rows) REQUIRE(table->add(row, 1) == 1);
  table->finish();
  const Database reader = Database::open_read_only(made.path);
  CHECK(dump(reader, "t", columns) == stored_by_sqlite(columns, 0b10, rows));
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
    const auto table = made.create(fmt::format("t{}", i), columns, storage_of(columns));
    for (std::int64_t id = 1; id <= sizes[i]; ++id) {
      Cells row(kColumns, INT64_MAX - id);
      row[0] = id;
      REQUIRE(table->add(row, 1) == 1);
    }
    table->finish();
  }
  const Database reader = Database::open_read_only(made.path);
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
  const auto table = made.append("name", {});
  for (const std::string& text : texts) REQUIRE(table->add_text(++id, text));
  CHECK_FALSE(table->add_text(-7, "out of order"));
  table->finish();
  const Database reader = Database::open_read_only(made.path);
  CHECK(is_whole(reader));
  Statement read = reader.prepare("SELECT id, text FROM name ORDER BY id");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE(read.step());
    CHECK(read.integer(0) == static_cast<std::int64_t>(i + 1));
    CHECK((read.text(1) == texts[i]));
  }
  CHECK_FALSE(read.step());
}

TEST_CASE("rows within a transaction are refused, because both would use the same pages") {
  Made made;
  const auto table = made.create("t", kIdAndInteger, storage_of(kIdAndInteger));
  made.db.execute("BEGIN; CREATE TABLE u (a)");
  for (std::int64_t id = 1; id <= 5000; ++id) table->add(Cells{id, id}, 1);
  CHECK_THROWS_WITH(table->finish(), Catch::Matchers::Contains("transaction"));
}

TEST_CASE("the page used for locks is skipped") {
  constexpr int kPageBytes = 65536;
  constexpr std::uint32_t kLocked = 0x40000000 / kPageBytes + 1;
  Made made(kPageBytes);
  const auto table = made.create("t", kIdAndInteger, storage_of(kIdAndInteger));
  // A sparse file that ends shortly before the locked page.
  std::filesystem::resize_file(made.path, std::uintmax_t{kLocked - 3} * kPageBytes);
  std::fstream file(made.path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(28);  // the number of pages, most significant byte first
  for (const int bits : {24, 16, 8, 0}) file.put(static_cast<char>((kLocked - 3) >> bits & 0xff));
  file.flush();
  for (std::int64_t id = 1; id <= 100'000; ++id) table->add(Cells{id, id}, 1);
  table->finish();
  const Database reader = Database::open_read_only(made.path);
  CHECK(lines(reader, "SELECT count(*), sum(a) FROM t") == Lines{"100000|5000050000"});
  file.seekg(std::streamoff{0x40000000});
  std::string page(kPageBytes, 'x');
  REQUIRE(file.read(page.data(), kPageBytes));
  CHECK((page == std::string(kPageBytes, '\0')));
}

TEST_CASE("a full disk is an error with a remedy") {
  Made made;
  const auto table = made.create("t", kIdAndInteger, storage_of(kIdAndInteger));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{1 << 20, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  Exit code = Exit::ok;
  std::string sentence;
  try {
    for (std::int64_t id = 1; id <= 500'000; ++id) table->add(Cells{id, id * 1'000'000}, 1);
    table->finish();
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

TEST_CASE("rows that are appended later are read after those before") {
  Made made(512);
  const auto table = made.create("t", kIdAndInteger, storage_of(kIdAndInteger));
  std::int64_t id = 0;
  for (const std::int64_t more : {1, 2, 70, 1, 5000}) {
    for (std::int64_t i = 0; i < more; ++i, ++id) REQUIRE(table->add(Cells{id, -id}, 1) == 1);
    table->finish();
    CHECK(table->last_id() == id - 1);
    const Database db = Database::open_read_only(made.path);
    CHECK(is_whole(db));
    Statement root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 't'");
    REQUIRE(root.step());  // holds a lock
    const auto file = pages::Reader::open(db.handle());
    REQUIRE(file);
    CHECK(file->read(1, {}, {}) == nullptr);
    const std::vector<std::size_t> wanted = {0, 1};
    const auto rows = file->read(static_cast<std::uint32_t>(root.integer(0)), wanted, {});
    REQUIRE(rows);
    std::int64_t read = 0;
    for (std::int64_t cells[2] = {}; rows->next(cells); ++read) {
      REQUIRE(cells[0] == read);
      REQUIRE(cells[1] == -read);
    }
    CHECK(read == id);
  }
}
