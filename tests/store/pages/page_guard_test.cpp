// SQLite's work on an untrusted file is bounded by the size of the file, and stops at Ctrl-C.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <csignal>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "store/row_ids.hpp"
#include "store/schema.hpp"
#include "support/page_editor.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPage = 512;
constexpr std::int64_t kRows = 200;

// A table of rows with short texts: a root above leaves, on small pages; and an index.
fs::path make_table(const TempFolder& folder) {
  const fs::path path = folder / "a.db";
  Database::create(path, kPage)
      .execute(fmt::format(
          "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
          "INSERT INTO t SELECT i, 'text ' || i FROM n; CREATE INDEX by_text ON t(text)",
          kRows));
  return path;
}

struct PagedTable {
  // Returns the result of the SQL, "200", or "damaged". If `bytes` is not 0, the file has a hole at
  // the end and this size.
  std::string answer(const std::string& sql, std::uintmax_t bytes = 0) {
    pages.save();
    if (bytes > 0) fs::resize_file(path, bytes);
    try {
      const Database db = Database::open_read_only(path);
      Statement read = db.prepare(sql);
      std::string last;
      while (read.step()) last = read.text(0);
      return last;
    } catch (const Error& error) {
      CHECK(error.code() == Exit::partial_data);
      CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
      return "damaged";
    }
  }

  TempFolder folder;
  fs::path path = make_table(folder);
  PageEditor pages{path};
  std::size_t root = pages.find_root("t");
};

constexpr const char* kCount = "SELECT count(*) FROM t NOT INDEXED";
constexpr const char* kTexts = "SELECT sum(length(text)) FROM t NOT INDEXED";
constexpr const char* kCountIndex = "SELECT count(*) FROM t INDEXED BY by_text WHERE text >= ''";

// Clears the signal when destroyed.
struct Interrupted {
  Interrupted() {
    interrupt::install();
    ::raise(SIGINT);
  }
  ~Interrupted() { interrupt::acknowledge(); }
};

}  // namespace

TEST_CASE("a page with two parents is damage for SQLite, too") {
  PagedTable table;
  PageEditor& pages = table.pages;
  const std::size_t root = table.root;
  REQUIRE(pages.page_type(root) == 5);
  REQUIRE(pages.cell_count(root) > 2);
  REQUIRE(table.answer(kCount) == std::to_string(kRows));
  REQUIRE(table.answer(kCountIndex) == std::to_string(kRows));
  SECTION("pages refer to their children many times") {
    pages.make_bomb(root);
    CHECK(table.answer(kCount) == "damaged");
  }
  SECTION("in a file that claims billions of pages") {
    pages.make_bomb(root);
    CHECK(table.answer(kCount, std::uintmax_t{20} << 30) == "damaged");
  }
  SECTION("a page refers to a child twice") {
    pages.put_last_child(root, pages.child(root, 0));
    CHECK(table.answer(kCount) == "damaged");
    CHECK(table.answer(kTexts) == "damaged");
  }
  SECTION("two pages refer to it, and one of them is between leaves") {
    pages.put(pages.cell_at(root, 1), pages.add_copy(root), 4);
    CHECK(table.answer(kCount) == "damaged");
  }
  SECTION("of an index") {
    const std::size_t index = pages.find_root("by_text");
    REQUIRE(pages.page_type(index) == 2);
    pages.put_last_child(index, pages.child(index, 0));
    CHECK(table.answer(kCountIndex) == "damaged");
    CHECK(table.answer(kCount) == std::to_string(kRows));
  }
  SECTION("of the schema") {
    const std::size_t leaf = pages.add_copy(pages.child(root, 0));
    const std::size_t cell = kPage - 13;
    pages.put(100, 5, 1);
    pages.put(103, 2, 2);
    pages.put(108, leaf, 4);
    pages.put(112, cell, 2);
    pages.put(114, cell, 2);
    pages.put(cell, leaf, 4);
    CHECK(table.answer(kCount) == "damaged");
  }
}

TEST_CASE("cells that share bytes are damage for SQLite, too") {
  PagedTable table;
  PageEditor& pages = table.pages;
  const std::size_t leaf = pages.child(table.root, 0);
  REQUIRE(pages.page_type(leaf) == 13);
  SECTION("rows of one text") {
    // Two cells for the same row of 300 bytes, which starts at the first cell.
    const std::size_t cell = pages.number_at(pages.pointer_at(leaf, pages.cell_count(leaf) - 1), 2);
    REQUIRE(cell + 302 < kPage);
    pages.put_cell_count(leaf, 2);
    for (const std::size_t i : {0u, 1u}) pages.put(pages.pointer_at(leaf, i), cell, 2);
    pages.put(pages.page_offset(leaf) + cell, 0x822c, 2);
  }
  SECTION("a row that continues on more pages than exist") {
    pages.put(pages.cell_at(leaf, 0), 0x84ff7f, 3);
  }
  SECTION("a cell beyond the page") {
    pages.put(pages.pointer_at(leaf, 0), kPage - 2, 2);
  }
  SECTION("more cells than a page has room for") {
    pages.put_cell_count(leaf, 0xffff);
  }
  CHECK(table.answer(kTexts) == "damaged");
}

TEST_CASE("valid files with long rows, deleted rows, large pages or a log are read") {
  const TempFolder folder;
  const fs::path path = folder / "a.db";
  const int page_bytes = GENERATE(512, 4096, 65536);
  Database::create(path, page_bytes)
      .execute(
          "CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX by_text ON t(text);"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
          "INSERT INTO t SELECT i * 7919 % 3001, hex(zeroblob(i % 100 * (i % 7))) FROM n;"
          "INSERT INTO t VALUES(-1, hex(zeroblob(1000000))); DELETE FROM t WHERE id % 3 = 1;"
          "INSERT INTO t SELECT -10 - id, 'again' FROM t LIMIT 500");
  const auto check = [&] {
    const auto expected = query(path, "SELECT count(*), sum(length(text)) FROM t");
    const Database db = Database::open_read_only(path);
    for (const char* how : {"NOT INDEXED", "INDEXED BY by_text"}) {
      Statement read = db.prepare(fmt::format(
          "SELECT count(*) || '|' || sum(length(text)) FROM t {} WHERE text >= ''", how));
      REQUIRE(read.step());
      CHECK(std::string(read.text(0)) == expected.front());
    }
  };
  check();
  query(path, "PRAGMA journal_mode=wal");
  check();
  // An open reader keeps the changes in the log.
  const Database reader = Database::open_read_only(path);
  Statement one = reader.prepare("SELECT count(*) FROM t");
  REQUIRE(one.step());
  query(path, "UPDATE t SET text = text || '.' WHERE id % 5 = 0");
  REQUIRE(fs::exists(path.string() + "-wal"));
  check();
}

TEST_CASE("a file changed by another program is read in its new state") {
  const PagedTable table;
  const Database db = Database::open_read_only(table.path);
  const auto count = [&] {
    Statement read = db.prepare(kCount);
    REQUIRE(read.step());
    return read.integer(0);
  };
  CHECK(count() == kRows);
  // Pages get other parents.
  query(table.path, "DELETE FROM t WHERE id % 10 < 9; INSERT INTO t SELECT id + 1000, 'x' FROM t");
  CHECK(count() == kRows / 5);
  query(table.path, "INSERT INTO t SELECT id + 10000, 'y' || text FROM t; VACUUM");
  CHECK(count() == 2 * kRows / 5);
}

TEST_CASE("a schema of a thousand tables is rejected") {
  const TempFolder folder;
  const fs::path path = folder / "a.db";
  Database::create(path, 4096)
      .execute(
          "CREATE TABLE t(id INTEGER PRIMARY KEY); PRAGMA writable_schema=ON;"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
          "INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i "
          "||"
          " '(a)' FROM n");
  CHECK_THROWS_WITH(Database::open_read_only(path), Catch::Contains("malformed"));
}

TEST_CASE("an id beyond the size of the file is damage and allocates no memory") {
  const PagedTable table;
  const auto last = [&](const std::string& id) {
    query(table.path, "UPDATE t SET id = " + id + " WHERE text = 'text 200'");
    const Database db = Database::open_read_only(table.path);
    return last_id(db, "t");
  };
  CHECK(last("200") == kRows);
  CHECK_THROWS_WITH(last("268435456"), Catch::Contains("the id 268435456 in t is too large"));
  CHECK_THROWS_WITH(last("9223372036854775807"), Catch::Contains("is damaged"));
  CHECK(last("-9223372036854775808") == kRows - 1);
  const Database db = Database::open_read_only(table.path);
  ById<std::string> texts(db, "t");
  texts[7] = "seven";
  CHECK(*texts.find(7) == "seven");
  CHECK(texts.find(8) == nullptr);
  CHECK(texts.find(-1) == nullptr);
  CHECK_THROWS_WITH(texts[kRows], Catch::Contains("a row refers to row 200 of t"));
  CHECK_THROWS_WITH(texts[-1], Catch::Contains("which does not exist"));
}

TEST_CASE("an interrupt stops a statement without rows and one that only reads pages") {
  const PagedTable table;
  const Database db = Database::open_read_only(table.path);
  Statement endless = db.prepare(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n");
  Statement count = db.prepare(kCount);
  const Interrupted interrupted;
  const auto is_interrupted = [](const Error& error) { return error.code() == Exit::interrupted; };
  CHECK_THROWS_MATCHES(endless.step(), Error, Catch::Predicate<Error>(is_interrupted));
  CHECK_THROWS_MATCHES(count.step(), Error, Catch::Predicate<Error>(is_interrupted));
}

TEST_CASE("a file that is opened after an interrupt is not called damaged") {
  const PagedTable table;
  const Interrupted interrupted;
  const auto is_interrupted = [](const Error& error) { return error.code() == Exit::interrupted; };
  CHECK_THROWS_MATCHES(Database::open_read_only(table.path), Error,
                       Catch::Predicate<Error>(is_interrupted));
}

TEST_CASE("temporary files of a small database have a limit") {
  const PagedTable table;
  const Database db = Database::open_read_only(table.path);
  const auto sort = [&](int rows) {
    Statement read = db.prepare(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}),"
                    " text(i, bytes) AS MATERIALIZED (SELECT i, zeroblob(1000000) FROM n)"
                    " SELECT i FROM text WHERE length(bytes) < 9 ORDER BY i",
                    rows));
    read.step();
  };
  CHECK_NOTHROW(sort(20));
  const auto has_no_room = [](const Error& error) {
    return error.code() == Exit::cannot_write &&
           std::string(error.what()).find("TMPDIR") != std::string::npos;
  };
  CHECK_THROWS_MATCHES(sort(400), Error, Catch::Predicate<Error>(has_no_room));
  // The memory of an ended statement is free again.
  CHECK_NOTHROW(sort(200));
}
