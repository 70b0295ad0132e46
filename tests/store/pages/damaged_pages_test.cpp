#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <random>

#include "base/error.hpp"
#include "store/row_cursor.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/page_editor.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kSmallPage = 512;
constexpr std::int64_t kTasks = 200;

// A store with small pages, and the pages of its tasks: a root above leaves.
struct PagedStore {
  PagedStore() : path(folder / "msprof.db") {
    TraceDbWriter writer(path);
    for (std::int64_t id = 1; id <= kTasks; ++id) {
      TaskRow task;
      task.id = id;
      task.start_ns = id * 1'000'000'007;
      task.device_id = 0;
      writer.add(task);
    }
    writer.publish();
    query(path, fmt::format("PRAGMA page_size={}; VACUUM", kSmallPage));
    bytes = read_file(path);
    root = static_cast<std::size_t>(
        std::stoul(query(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'task'").front()));
  }

  std::size_t number_at(std::size_t at, std::size_t count) const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    }
    return value;
  }
  void put(std::size_t at, std::size_t value, std::size_t count) {
    for (std::size_t i = count; i-- > 0; value >>= 8) bytes[at + i] = static_cast<char>(value);
  }
  static std::size_t page_offset(std::size_t page) { return (page - 1) * kSmallPage; }
  std::size_t pages() const { return bytes.size() / kSmallPage; }
  // Offset of a cell of a page.
  std::size_t cell_at(std::size_t page, std::size_t header_bytes, std::size_t cell) const {
    return page_offset(page) + number_at(page_offset(page) + header_bytes + 2 * cell, 2);
  }
  std::size_t first_leaf() const { return number_at(cell_at(root, 12, 0), 4); }

  // Returns "12 rows", "5 rows, damaged" or "no store".
  std::string read(bool is_backwards = false) const {
    write_file(path, bytes);
    const auto store = TraceDb::open(path);
    if (!store) return "no store";
    REQUIRE(store->database().reads_pages());
    std::int64_t rows = 0;
    try {
      RowCursor<TaskRow> tasks(store->database(), {&TaskRow::id, &TaskRow::start_ns},
                               {.is_backwards = is_backwards});
      while (tasks.next()) ++rows;
    } catch (const Error& error) {
      CHECK(error.code() == Exit::partial_data);
      CHECK(std::string(error.what()).find(path.string() + " is damaged (page ") !=
            std::string::npos);
      return fmt::format("{} rows, damaged", rows);
    }
    return fmt::format("{} rows", rows);
  }

  TempFolder folder;
  fs::path path;
  std::string bytes;
  std::size_t root = 0;
};

bool is_refused(const std::string& result) {
  return result.ends_with("damaged");
}

}  // namespace

TEST_CASE("pages that cannot be in a table are damage, whatever refers to them") {
  PagedStore store;
  REQUIRE(store.bytes[store.page_offset(store.root)] == 5);
  REQUIRE(store.read() == "200 rows");
  const std::size_t begin = store.page_offset(store.root);
  const auto child = GENERATE(std::size_t{0}, 1u, 100'000u, 0xffffffffu);
  SECTION("as the last child") {
    store.put(begin + 8, child, 4);
    CHECK(is_refused(store.read()));
    CHECK(store.read(true) == "0 rows, damaged");
  }
  SECTION("as the first") {
    store.put(store.cell_at(store.root, 12, 0), child, 4);
    CHECK(store.read() == "0 rows, damaged");
    CHECK(is_refused(store.read(true)));
  }
}

TEST_CASE("a cyclic tree is detected") {
  PagedStore store;
  const std::size_t begin = store.page_offset(store.root);
  SECTION("to its root, first") {
    store.put(store.cell_at(store.root, 12, 0), store.root, 4);
    CHECK(store.read() == "0 rows, damaged");
  }
  SECTION("to its root, last") {
    store.put(begin + 8, store.root, 4);
    CHECK(is_refused(store.read()));
  }
  SECTION("to a leaf that was read") {
    store.put(begin + 8, store.first_leaf(), 4);
    CHECK(is_refused(store.read()));
    CHECK(is_refused(store.read(true)));
  }
}

TEST_CASE("cells beyond their page and rows beyond their cells are damage") {
  PagedStore store;
  const std::size_t leaf = store.first_leaf();
  const std::size_t begin = store.page_offset(leaf);
  const std::size_t cell = store.cell_at(leaf, 8, 0);
  SECTION("another kind of page") {
    store.put(begin, 10, 1);
  }
  SECTION("more cells than a page has room for") {
    store.put(begin + 3, 0xffff, 2);
  }
  SECTION("a leaf without rows below others") {
    store.put(begin + 3, 0, 2);
  }
  SECTION("a cell after the page") {
    store.put(begin + 8, kSmallPage, 2);
  }
  SECTION("a cell in the header") {
    store.put(begin + 8, 2, 2);
  }
  SECTION("a row that ends after the page") {
    const std::size_t last = kSmallPage - 3;
    store.put(begin + 8, last, 2);
    store.put(begin + last, 0x7f01, 2);
  }
  SECTION("a header longer than its row") {
    store.put(cell + 2, 0x7f, 1);
  }
  SECTION("a value longer than its row") {
    store.put(cell + 6, 0x7f, 1);
  }
  SECTION("a row of 256 MB") {
    store.put(cell, 0x80ffffff, 4);
  }
  SECTION("a row that continues on a missing page") {
    store.put(cell, 0x9000, 2);
  }
  SECTION("the same id again") {
    store.put(begin + 10, store.number_at(begin + 8, 2), 2);
  }
  CHECK(is_refused(store.read()));
  CHECK(is_refused(store.read(true)));
}

TEST_CASE("a wrong byte gives rows or an error") {
  PagedStore store;
  const std::string good = store.bytes;
  std::mt19937 random(22);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    store.bytes = good;
    const std::size_t page = i % 2 == 0 ? store.root : store.first_leaf() + random() % 3;
    const std::size_t at = store.page_offset(page) + random() % kSmallPage;
    if (at >= good.size()) continue;
    store.bytes[at] = static_cast<char>(random());
    refused += is_refused(store.read(i % 3 == 0)) ? 1 : 0;
  }
  CHECK(refused > 0);
}

TEST_CASE("files that only SQLite can read are read by SQLite") {
  const PagedStore store;
  const auto reads_pages = [&] {
    const auto opened = TraceDb::open(store.path);
    REQUIRE(opened);
    RowCursor<TaskRow> tasks(opened->database(), {&TaskRow::id}, {.first_id = kTasks});
    REQUIRE(tasks.next());
    CHECK(tasks->id == kTasks);
    return opened->database().reads_pages();
  };
  CHECK(reads_pages());
  SECTION("a write-ahead log") {
    query(store.path, "PRAGMA journal_mode=wal");
    CHECK_FALSE(reads_pages());
  }
  SECTION("bytes after the last page") {
    write_file(store.path, store.bytes + std::string(kSmallPage, '\0'));
    CHECK_FALSE(reads_pages());
  }
  SECTION("a page count that is not marked as valid") {
    std::string bytes = store.bytes;
    bytes[27] = static_cast<char>(bytes[27] + 1);
    write_file(store.path, bytes);
    CHECK_FALSE(reads_pages());
  }
}

TEST_CASE("no other program can change a store while its pages are read") {
  const PagedStore store;
  const auto opened = TraceDb::open(store.path);
  REQUIRE(opened);
  CHECK_THROWS(query(store.path, "DELETE FROM task"));
  RowCursor<TaskRow> tasks(opened->database(), {&TaskRow::id});
  CHECK(tasks.next());
}

TEST_CASE("no more pages are read than the file has, however often they are named") {
  const PagedStore store;
  PageEditor pages(store.path);
  const std::size_t leaf = pages.child(store.root, 0);
  const std::size_t middle = pages.add_copy(store.root);
  pages.name_often(middle, leaf);
  pages.name_often(store.root, middle);
  pages.save();
  const std::size_t named = pages.cell_count(middle) * pages.cell_count(store.root);
  REQUIRE(named > 10 * pages.pages());
  const auto opened = TraceDb::open(store.path);
  REQUIRE(opened);
  // No row is in range, so the order of the ids is unknown.
  RowCursor<TaskRow> tasks(opened->database(), {&TaskRow::id}, {.first_id = kTasks + 1});
  REQUIRE(tasks.reads_pages());
  CHECK_THROWS_WITH(tasks.next(), Catch::Contains("more pages than the file"));
}
