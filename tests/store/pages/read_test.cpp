#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <random>

#include "base/error.hpp"
#include "store/row_cursor.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Random = std::mt19937_64;

std::int64_t random_cell(Random& random) {
  constexpr std::array<std::int64_t, 12> kEdges = {
      kNull, kNull, 0, 1, -1, 127, -128, 128, INT64_MAX, INT64_MIN + 1, -32769, 1LL << 47};
  const auto number = static_cast<std::int64_t>(random());
  switch (random() % 3) {
    case 0:
      return kEdges[random() % kEdges.size()];
    case 1:
      return number >> (random() % 63);
    default:
      return static_cast<std::int64_t>(random() % 3000);
  }
}

template <typename Row>
void add_random_rows(TraceDbWriter& writer, Random& random, int count) {
  std::int64_t id = -3;
  for (int i = 0; i < count; ++i) {
    std::array<std::int64_t, Row::kColumns.size()> cells;
    for (std::int64_t& cell : cells) cell = random_cell(random);
    id += 1 + static_cast<std::int64_t>(random() % 100 == 0 ? random() % (1 << 30) : 0);
    cells[0] = id;
    // A store with overlapping runs would be rejected.
    if constexpr (std::is_same_v<Row, TaskRunRow>) cells[2] = cells[3] = id;
    Row row;
    std::memcpy(static_cast<void*>(&row), cells.data(), sizeof row);
    writer.add(row);
  }
}

template <typename... Row>
void add_random_rows(TraceDbWriter& writer, Random& random, int count, std::tuple<Row...>*) {
  (add_random_rows<Row>(writer, random, count), ...);
}

// The cursor's rows, concatenated, and the error that ended it.
struct Taken {
  std::vector<std::int64_t> cells;
  std::string error;
  bool operator==(const Taken&) const = default;
};

template <typename Row>
Taken take(RowCursor<Row> rows) {
  Taken taken;
  try {
    while (rows.next()) {
      std::array<std::int64_t, Row::kColumns.size()> cells;
      std::memcpy(cells.data(), &*rows, sizeof cells);
      taken.cells.insert(taken.cells.end(), cells.begin(), cells.end());
    }
  } catch (const Error& error) {
    taken.error = error.code() == Exit::partial_data ? "damaged" : error.what();
  }
  return taken;
}

// A store read through SQLite and directly from its pages.
struct BothWays {
  explicit BothWays(const fs::path& path) : sqlite(Database::open_read_only(path)) {
    pages = TraceDb::open(path);
    REQUIRE(pages);
    REQUIRE(pages->database().reads_pages());
  }
  template <typename Row>
  void check() const {
    INFO(Row::kTable);
    const Taken taken = take(RowCursor<Row>(pages->database()));
    CHECK(taken.error.empty());
    CHECK((taken == take(RowCursor<Row>(sqlite))));
  }
  template <typename... Row>
  void check_all(std::tuple<Row...>*) const {
    (check<Row>(), ...);
  }

  Database sqlite;
  std::optional<TraceDb> pages;
};

constexpr BulkRows* kAllRows = nullptr;

fs::path random_store(const TempFolder& folder, int rows, std::uint64_t raw_bytes = 0) {
  const fs::path path = folder / "msprof.db";
  Random random(static_cast<std::uint64_t>(rows));
  TraceDbWriter writer(path, raw_bytes);
  add_random_rows(writer, random, rows, kAllRows);
  writer.set_meta("dialect", "cann");
  writer.publish();
  return path;
}

void set_page_bytes(const fs::path& path, int bytes) {
  query(path, fmt::format("PRAGMA page_size={}; VACUUM", bytes));
}

}  // namespace

TEST_CASE("rows read from pages equal those from SQLite, in every table and page size") {
  const TempFolder folder;
  const int count = GENERATE(0, 1, 7, 2000);
  const fs::path path = random_store(folder, count);
  BothWays(path).check_all(kAllRows);
  for (const int page_bytes : {512, 1024, 32768, 65536}) {
    set_page_bytes(path, page_bytes);
    REQUIRE(query(path, "PRAGMA page_size") == std::vector{std::to_string(page_bytes)});
    BothWays(path).check_all(kAllRows);
  }
}

TEST_CASE("large captures have large pages, which are read the same way") {
  const TempFolder folder;
  BothWays(random_store(folder, 5000, 1 << 30)).check_all(kAllRows);
}

TEST_CASE("a cursor on pages returns the rows that SQL returns") {
  const TempFolder folder;
  const fs::path path = random_store(folder, 3000);
  set_page_bytes(path, 512);
  const BothWays store(path);
  Random random(1);
  const auto ids = [&] {
    std::vector<std::int64_t> all;
    for (RowCursor<TaskRow> read(store.sqlite, {&TaskRow::id}); read.next();)
      all.push_back(read->id);
    return all;
  }();
  const auto some_id = [&] {
    switch (random() % 8) {
      case 0:
        return std::int64_t{INT64_MIN};
      case 1:
        return std::int64_t{INT64_MAX};
      default:
        return ids[random() % ids.size()] + static_cast<std::int64_t>(random() % 3) - 1;
    }
  };
  std::size_t rows = 0;
  for (int i = 0; i < 300; ++i) {
    RowCursor<TaskRow>::Filter filter;
    filter.first_id = some_id();
    filter.last_id = random() % 2 == 0 ? some_id() : filter.first_id + 5;
    filter.is_backwards = random() % 2 == 0;
    if (random() % 3 == 0) filter.not_null = {&TaskRow::op_id, &TaskRow::id};
    if (random() % 3 == 0) filter.equal = {{&TaskRow::start_ns, random_cell(random)}};
    if (random() % 9 == 0) filter.equal = {{&TaskRow::id, some_id()}};
    INFO(filter.first_id << " to " << filter.last_id);
    const RowCursor<TaskRow>::Columns columns = {&TaskRow::api_id, &TaskRow::id,
                                                 &TaskRow::start_ns};
    const Taken taken = take(RowCursor<TaskRow>(store.pages->database(), columns, filter));
    REQUIRE((taken == take(RowCursor<TaskRow>(store.sqlite, columns, filter))));
    rows += taken.cells.size();
  }
  CHECK(rows > 0);
}

TEST_CASE("cells that import never writes are read from pages as by SQLite") {
  const TempFolder folder;
  const fs::path path = random_store(folder, 40);
  const std::vector<std::string> cells = {"1.5",
                                          "-1e300",
                                          "9.3e18",
                                          "0.0",
                                          "''",
                                          "'0'",
                                          "'12 apples'",
                                          "'  -7x'",
                                          "'+99999999999999999999999x'",
                                          "'-99999999999999999999999x'",
                                          "'apples'",
                                          "x''",
                                          "x'3439'",
                                          "x'ff00ff'",
                                          "zeroblob(3000)",
                                          "'4711' || hex(zeroblob(1000000))",
                                          "hex(zeroblob(1000)) || 'x'"};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    query(path, fmt::format("UPDATE task SET start_ns = {}, device_id = {} WHERE id = {}", cells[i],
                            cells[cells.size() - 1 - i], i + 1));
  }
  query(path, "UPDATE task SET op_id = 1, api_id = 2");
  query(path, "UPDATE task SET op_id = 1.5, api_id = 'no' WHERE id % 2 = 0");
  const int page_bytes = GENERATE(4096, 512);
  set_page_bytes(path, page_bytes);
  const BothWays store(path);
  store.check<TaskRow>();
  const auto check = [&](const RowCursor<TaskRow>::Filter& filter) {
    const RowCursor<TaskRow>::Columns columns = {&TaskRow::id};
    const Taken taken = take(RowCursor<TaskRow>(store.pages->database(), columns, filter));
    CHECK_FALSE(taken.cells.empty());
    CHECK((taken == take(RowCursor<TaskRow>(store.sqlite, columns, filter))));
  };
  check({.not_null = {&TaskRow::start_ns, &TaskRow::device_id}});
  check({.equal = {{&TaskRow::op_id, 1}}});
  check({.equal = {{&TaskRow::start_ns, 0}}});
}
