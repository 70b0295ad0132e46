// Parquet files: the tests' own reader returns the written values, in every layout.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <optional>

#include "base/text.hpp"
#include "export/parquet/file_writer.hpp"
#include "store/cells.hpp"
#include "support/files.hpp"
#include "support/parquet/parquet_reader.hpp"
#include "support/temp_folder.hpp"

namespace msprof {
namespace {

using parquet::ColumnSpec;
using parquet::FileOptions;
using parquet::FileWriter;
using parquet::Values;
using test::ParquetCell;
using Column = std::vector<std::int64_t>;

constexpr std::size_t kKeys = parquet::KeyNumbers::kMaxKeys;

// Reproducible pseudo-random numbers.
class Numbers {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 20;
  }

 private:
  std::uint64_t state_ = 7;
};

struct Written {
  test::TempFolder folder;
  std::filesystem::path path = folder / "file.parquet";

  // Writes one column of `cells` per spec.
  test::ParquetFile write(std::vector<ColumnSpec> specs, const std::vector<Column>& columns,
                          FileOptions options = {}) const {
    FileWriter file(path, std::move(specs), std::move(options));
    for (std::size_t row = 0; row < columns.at(0).size(); ++row) {
      std::vector<std::int64_t> cells;
      for (const Column& column : columns) cells.push_back(column.at(row));
      file.add(cells);
    }
    CHECK(file.rows() == columns[0].size());
    const std::uint64_t bytes = file.finish();
    CHECK_FALSE(std::filesystem::exists(path));
    file.take().publish();
    CHECK(std::filesystem::file_size(path) == bytes);
    return test::read_parquet(path);
  }
};

std::vector<ParquetCell> to_cells(const Column& column) {
  std::vector<ParquetCell> cells;
  for (const std::int64_t value : column)
    cells.push_back(value == kNull ? ParquetCell() : ParquetCell(value));
  return cells;
}

std::int64_t number_in(const std::string& bytes) {
  std::int64_t value = 0;
  REQUIRE(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Checks that integer statistics match the cells.
void check_bounds(const test::ParquetChunk& chunk) {
  std::int64_t nulls = 0;
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  for (const ParquetCell& cell : chunk.cells) {
    if (const auto* value = std::get_if<std::int64_t>(&cell)) {
      min = std::min(min.value_or(*value), *value);
      max = std::max(max.value_or(*value), *value);
    } else {
      ++nulls;
    }
  }
  CHECK(chunk.null_count == nulls);
  REQUIRE(chunk.min.has_value() == min.has_value());
  REQUIRE(chunk.max.has_value() == max.has_value());
  if (!min) return;
  CHECK(number_in(*chunk.min) == *min);
  CHECK(number_in(*chunk.max) == *max);
}

// Columns of every kind: (spec, cells).
std::vector<std::pair<ColumnSpec, Column>> all_kinds(std::size_t rows) {
  Numbers numbers;
  Column ids, times, repeated, durations, sparse, none, wild, steady;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    ids.push_back(row * 3);
    times.push_back((i == 0 ? 1'715'760'307'000'000'000 : times.back()) +
                    static_cast<std::int64_t>(numbers.next() % 5000));
    repeated.push_back(i % 200 < 100 ? 4 : static_cast<std::int64_t>(numbers.next() % 5));
    durations.push_back(i % 7 == 0 ? kNull : static_cast<std::int64_t>(numbers.next() % 90000));
    sparse.push_back(i % 500 == 499 ? row : kNull);
    none.push_back(kNull);
    wild.push_back(static_cast<std::int64_t>(numbers.next() << (i % 64)));
    steady.push_back(-1);
  }
  return {{{"ids", Values::ascending, true, {}}, ids},
          {{"times", Values::ascending, false, {}}, times},
          {{"repeated", Values::repeated, false, {}}, repeated},
          {{"durations", Values::any, false, {}}, durations},
          {{"sparse", Values::any, false, {}}, sparse},
          {{"none", Values::repeated, false, {}}, none},
          {{"wild", Values::any, false, {}}, wild},
          {{"steady", Values::any, true, {}}, steady}};
}

TEST_CASE("Integers of every kind are read back, across pages and row groups, with their bounds") {
  const auto rows = GENERATE(std::size_t{1}, 7u, 64u, 65u, 999u, 2500u);
  std::vector<ColumnSpec> specs;
  std::vector<Column> columns;
  for (auto& [spec, cells] : all_kinds(rows)) {
    specs.push_back(spec);
    columns.push_back(cells);
  }
  FileOptions options;
  options.group_rows = 1000;
  options.page_rows = 64;
  options.metadata = {{"a", "b"}, {"c", "\xE4\xB8\xAD"}};
  const Written written;
  const auto file = written.write(specs, columns, options);
  CHECK(file.rows == rows);
  CHECK(file.groups.size() == (rows + 999) / 1000);
  CHECK(file.metadata == std::map<std::string, std::string>{{"a", "b"}, {"c", "\xE4\xB8\xAD"}});
  for (std::size_t i = 0; i < specs.size(); ++i) {
    CAPTURE(specs[i].name);
    CHECK(file.columns[i].name == specs[i].name);
    CHECK(file.columns[i].is_optional != specs[i].is_required);
    CHECK(file.column(specs[i].name) == to_cells(columns[i]));
    for (const auto& group : file.groups) check_bounds(group[i]);
  }
}

TEST_CASE("The largest and smallest numbers are read back with every encoding") {
  const Column extremes = {INT64_MAX, kNull, INT64_MIN + 1, 0, INT64_MAX, -1, INT64_MIN + 1};
  const Column required = {INT64_MIN, INT64_MAX, INT64_MIN, 0, 1, INT64_MIN, INT64_MAX};
  const auto values = GENERATE(Values::ascending, Values::repeated, Values::any);
  const Written written;
  const auto file =
      written.write({{"a", values, false, {}}, {"b", values, true, {}}}, {extremes, required});
  CHECK(file.column("a") == to_cells(extremes));
  std::vector<ParquetCell> all(required.begin(), required.end());
  CHECK(file.column("b") == all);
  check_bounds(file.groups[0][0]);
  check_bounds(file.groups[0][1]);
}

TEST_CASE("The encoding of a column follows from its values") {
  Numbers numbers;
  Column times, few, any_few, any_times;
  for (std::int64_t i = 0; i < 5000; ++i) {
    times.push_back(i * 1000 + static_cast<std::int64_t>(numbers.next() % 900));
    few.push_back(static_cast<std::int64_t>(numbers.next() % 3) * 1'000'000'007);
  }
  any_few = few;
  any_times = times;
  const Written written;
  const auto file = written.write({{"times", Values::ascending, false, {}},
                                   {"few", Values::repeated, false, {}},
                                   {"any_few", Values::any, false, {}},
                                   {"any_times", Values::any, false, {}}},
                                  {times, few, any_few, any_times});
  const auto& chunks = file.groups.at(0);
  CHECK(chunks[0].page_encodings == std::set<int>{5});
  CHECK(chunks[1].page_encodings == std::set<int>{8});
  CHECK(chunks[1].dictionary_size == 3);
  CHECK(chunks[2].page_encodings == std::set<int>{8});
  CHECK(chunks[3].page_encodings == std::set<int>{5});
  // Two and eleven bits per value before zstd: 16 kB instead of 160 kB.
  CHECK(std::filesystem::file_size(written.path) < 20'000);
}

TEST_CASE("If an integer dictionary is full, the rest is delta-encoded") {
  Column cells;
  for (std::size_t i = 0; i < 80'000; ++i)
    cells.push_back(i % 11 == 0 ? kNull : static_cast<std::int64_t>(i * 7919 % 1'000'003));
  for (int i = 0; i < 9000; ++i) cells.push_back(i % 3);
  FileOptions options;
  options.page_rows = 8192;
  options.group_rows = 80'000;
  const Written written;
  const auto file = written.write({{"a", Values::repeated, false, {}}}, {cells}, options);
  CHECK(file.column("a") == to_cells(cells));
  REQUIRE(file.groups.size() == 2);
  CHECK(file.groups[0][0].page_encodings == std::set<int>{5, 8});
  CHECK(file.groups[1][0].page_encodings == std::set<int>{8});
  CHECK(file.groups[1][0].dictionary_size == 3);
}

// Provides texts for the keys 0, 1, 2, …; other keys have no text.
parquet::TextLookup text_lookup(std::vector<std::string> texts) {
  return [texts = std::move(texts)](std::int64_t key, std::string& text) {
    if (key < 0 || key >= static_cast<std::int64_t>(texts.size())) return false;
    text = texts[static_cast<std::size_t>(key)];
    return true;
  };
}

TEST_CASE("Texts are read back byte for byte; keys without a text are null") {
  const std::vector<std::string> texts = {
      "MatMul", "", std::string("a\0b", 3), "\xE5\x8D\xB7\xE7\xA7\xAF", "a'b\"c,\n\\", "zz"};
  const Column keys = {0, 1, 2, kNull, 3, 4, 99, 0, 0, -5, 5};
  const Written written;
  const auto file = written.write({{"text", Values::repeated, false, text_lookup(texts)}}, {keys});
  std::vector<ParquetCell> expected;
  for (const std::int64_t key : keys)
    expected.push_back(key >= 0 && key < 6 ? ParquetCell(texts[static_cast<std::size_t>(key)])
                                           : ParquetCell());
  CHECK(file.column("text") == expected);
  const auto& chunk = file.groups[0][0];
  CHECK(file.columns[0].is_text);
  CHECK(chunk.null_count == 3);
  CHECK(chunk.min == "");
  CHECK(chunk.max == "\xE5\x8D\xB7\xE7\xA7\xAF");
  CHECK(chunk.is_min_exact);
  CHECK(chunk.is_max_exact);
  CHECK(chunk.dictionary_size == 6);
}

TEST_CASE("A column of keys without any text is all null") {
  const Written written;
  const auto file =
      written.write({{"text", Values::repeated, false, text_lookup({})}}, {{1, 2, 1}});
  CHECK(file.column("text") == std::vector<ParquetCell>(3));
  CHECK(file.groups[0][0].null_count == 3);
  CHECK_FALSE(file.groups[0][0].max.has_value());
}

TEST_CASE("If a text dictionary is full, the rest is written to plain pages") {
  const auto find_text = [](std::int64_t key, std::string& text) {
    text = "hcom_allReduce__" + std::to_string(key);
    return key % 13 != 5;
  };
  Column keys;
  std::vector<ParquetCell> expected;
  for (std::int64_t key = 0; key < static_cast<std::int64_t>(kKeys) + 20'000; ++key) {
    keys.push_back(key);
    std::string text;
    expected.push_back(find_text(key, text) ? ParquetCell(text) : ParquetCell());
  }
  FileOptions options;
  options.page_rows = 16'384;
  const Written written;
  const auto file = written.write({{"text", Values::repeated, false, find_text}}, {keys}, options);
  CHECK(file.column("text") == expected);
  CHECK(file.groups[0][0].page_encodings == std::set<int>{0, 8});
  CHECK(file.groups[0][0].min == "hcom_allReduce__0");
  CHECK(file.groups[0][0].max == "hcom_allReduce__9999");
}

TEST_CASE("Long texts are written to more pages, cut at a megabyte, and have short bounds") {
  // 1.5 MB of a three-byte character, so that a cut at 2^20 would split one.
  const auto find_text = [](std::int64_t key, std::string& text) {
    text = std::to_string(key);
    while (text.size() < 1'500'000) text += "\xE4\xB8\xAD";
    return true;
  };
  Column keys;
  for (std::int64_t key = 0; key < 12; ++key) keys.push_back(key);
  const Written written;
  const auto file = written.write({{"text", Values::repeated, false, find_text}}, {keys});
  const auto& chunk = file.groups[0][0];
  CHECK(chunk.data_pages > 2);
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const std::string& text = std::get<std::string>(chunk.cells.at(row));
    CHECK(text.size() > (1 << 20) - 3);
    CHECK(text.size() <= 1 << 20);
    CHECK(is_valid_utf8(text));
    CHECK(text.starts_with(std::to_string(row) + "\xE4"));
  }
  REQUIRE(chunk.min.has_value());
  REQUIRE(chunk.max.has_value());
  CHECK(chunk.min->size() <= 128);
  CHECK_FALSE(chunk.is_min_exact);
  CHECK_FALSE(chunk.is_max_exact);
  for (const ParquetCell& cell : chunk.cells) {
    CHECK(std::get<std::string>(cell) >= *chunk.min);
    CHECK(std::get<std::string>(cell) <= *chunk.max);
  }
  CHECK(is_valid_utf8(*chunk.min));
  CHECK(is_valid_utf8(*chunk.max));
}

TEST_CASE("A file without rows has its columns") {
  const Written written;
  FileWriter writer(written.path, {{"a", Values::any, true, {}}}, {});
  writer.finish();
  writer.take().publish();
  const auto file = test::read_parquet(written.path);
  CHECK(file.rows == 0);
  CHECK(file.groups.empty());
  REQUIRE(file.columns.size() == 1);
  CHECK(file.columns[0].name == "a");
}

TEST_CASE("A writer that is not finished leaves only the old file") {
  const Written written;
  test::write_file(written.path, "old");
  {
    FileWriter writer(written.path, {{"a", Values::any, true, {}}}, {});
    const std::array<std::int64_t, 1> cells = {5};
    writer.add(cells);
    writer.finish();
  }
  CHECK(test::read_file(written.path) == "old");
  CHECK(test::names_in(written.folder.path()) == std::vector<std::string>{"file.parquet"});
}

TEST_CASE("The reader of these tests rejects damaged files") {
  const Written written;
  Column cells;
  for (std::int64_t i = 0; i < 300; ++i) cells.push_back(i * i % 101);
  written.write({{"a", Values::repeated, false, {}}}, {cells});
  const std::string good = test::read_file(written.path);
  const auto refuses = [&](const std::string& bytes) {
    test::write_file(written.path, bytes);
    CHECK_THROWS_AS(test::read_parquet(written.path), std::runtime_error);
  };
  refuses(good.substr(0, good.size() - 1));
  refuses(good.substr(1));
  refuses("");
  std::string in_data = good;
  in_data[60] = static_cast<char>(in_data[60] ^ 0x55);
  refuses(in_data);
}

}  // namespace
}  // namespace msprof
