// Large tables are made in chunks on several threads; their files are those of a single thread.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "base/number.hpp"
#include "export/table/column_writer.hpp"
#include "export/table/table_chunks.hpp"
#include "export/table/table_reader.hpp"
#include "export/table/table_writers.hpp"
#include "support/cann_store.hpp"

namespace msprof::test {
namespace {

constexpr std::int64_t kTasks = 40'000;  // several chunks of every table

// Tasks of two devices at the same times, every 100 ns, for 90 ns; between some of them a
// collective. A third of the tasks is not in op_summary.
void fill(CannStore& store) {
  for (std::int64_t id = 1; id <= 3; ++id) {
    OpRow op;
    op.id = id;
    op.name_id = store.name("Op, \"" + std::to_string(id) + "\"");
    op.type_name_id = store.name("Add");
    op.unit_name_id = store.name(id == 3 ? "WRITE_BACK" : "AI_CORE");
    op.input_shapes_name_id = store.name("1,2;3");
    store.add(op);
  }
  std::int64_t collectives = 0;
  for (std::int64_t device = 0; device < 2; ++device) {
    DeviceRow row;
    row.id = device;
    row.platform = 5;
    store.add(row);
    const std::int64_t first = device * kTasks + 1;
    for (std::int64_t i = 0; i < kTasks; ++i) {
      TaskRow task;
      task.id = first + i;
      task.device_id = device;
      task.stream_id = i % 3;
      task.task_number = i;
      task.batch = 0;
      task.start_ns = kSecond + i * 100;
      task.duration_ns = 90;
      task.device_type_name_id = store.name("AIC_SQE");
      task.op_id = i % 3 + 1;
      store.add(task);
    }
    TaskRunRow run;
    run.id = device + 1;
    run.device_id = device;
    run.first_task_id = first;
    run.last_task_id = first + kTasks - 1;
    store.add(run);
    for (std::int64_t i = 2; i < kTasks; i += 300) {
      CommOpRow collective;
      collective.id = ++collectives;
      collective.device_id = device;
      collective.name_id = store.name("hcom_allReduce_");
      collective.start_ns = kSecond + i * 100 + 5;
      collective.end_ns = collective.start_ns + 10;
      store.add(collective);
    }
  }
}

template <typename Writer>
std::string written_alone(CannStore& store, std::string_view name) {
  const Database& db = store.db().database();
  const auto table = find_table(db, name);
  MemoryOutput text;
  Writer writer(text);
  RowBuilder rows(writer);
  writer.begin(table->columns(db));
  for (const OutputFile& file : table->output_files(db)) table->write(db, file, rows);
  writer.end();
  return text.buffer();
}

std::vector<std::vector<std::string>> read_columns(CannStore& store, std::string_view table,
                                                   std::vector<WantedField> fields) {
  std::vector<std::vector<std::string>> rows;
  CHECK(read_table(store.db().database(), table, fields, [&](std::span<const TableValue> values) {
    auto& row = rows.emplace_back();
    for (const TableValue& value : values) row.emplace_back(value.text);
  }));
  return rows;
}

using ColumnRows = std::vector<std::vector<nlohmann::json>>;

template <typename Number>
Number take(std::string_view& bytes) {
  Number number{};
  REQUIRE(bytes.size() >= sizeof(Number));
  std::memcpy(&number, bytes.data(), sizeof(Number));
  bytes.remove_prefix(sizeof(Number));
  return number;
}

nlohmann::json take_json(std::string_view& bytes) {
  const auto size = take<std::uint32_t>(bytes);
  const nlohmann::json value = nlohmann::json::parse(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return value;
}

// Reads the values of one column of a chunk into the last rows of `rows`.
void read_column(std::string_view& bytes, std::span<std::vector<nlohmann::json>> rows) {
  const auto kind = take<std::uint8_t>(bytes);
  std::vector<bool> nulls(rows.size(), kind == 0);
  if (kind == 2)
    for (std::size_t i = 0; i < rows.size(); ++i) nulls[i] = take<std::uint8_t>(bytes) != 0;
  const nlohmann::json values = kind == 4 ? take_json(bytes) : nlohmann::json();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    nlohmann::json value;
    if (kind == 1 || kind == 2) value = take<std::int64_t>(bytes);
    if (kind == 3) value = take<double>(bytes);
    if (kind == 4) value = values.at(take<std::uint16_t>(bytes));
    rows[i].push_back(nulls[i] ? nlohmann::json() : value);
  }
}

// Reads the output of a ColumnWriter.
ColumnRows read_rows(std::string_view bytes) {
  constexpr std::string_view kMagic = "msprof.columns/1\n";
  REQUIRE(bytes.starts_with(kMagic));
  bytes.remove_prefix(kMagic.size());
  const std::size_t columns = take_json(bytes).size();
  ColumnRows rows;
  while (const auto count = take<std::uint32_t>(bytes)) {
    const std::size_t at = rows.size();
    rows.resize(at + count);
    for (std::size_t i = 0; i < columns; ++i) read_column(bytes, std::span(rows).subspan(at));
  }
  CHECK(bytes.empty());
  return rows;
}

}  // namespace

TEST_CASE("Columns keep integers, reals, texts and NULL, also mixed") {
  MemoryOutput out;
  ColumnWriter writer(out);
  const std::vector<std::string> names = {"whole", "part", "text", "none", "mixed", "gaps"};
  writer.begin(names);
  RowBuilder row(writer);
  for (int i = 0; i < 3; ++i) {
    row.number(std::numeric_limits<std::int64_t>::max() - i);
    i == 1 ? row.number(std::int64_t{7}) : row.real(0.5);
    i == 1 ? row.missing() : row.text("a\"\n\xff");
    row.missing();
    if (i == 0) row.text("x");
    if (i == 1) row.number((std::int64_t{1} << 53) + 1);
    if (i == 2) row.real(2.0);
    i == 1 ? row.number(std::int64_t{-1}) : row.missing();
    row.end_row();
  }
  writer.end();
  const ColumnRows rows = read_rows(out.buffer());
  REQUIRE(rows.size() == 3);
  const nlohmann::json null;
  CHECK(rows[0][0] == std::numeric_limits<std::int64_t>::max());
  CHECK(rows[1][1] == 7.0);
  CHECK(rows[0][2] == "a\"\n\xEF\xBF\xBD");
  CHECK(rows[1][2] == null);
  CHECK(rows[2][3] == null);
  CHECK(rows[0][4] == "x");
  CHECK(rows[1][4] == (std::int64_t{1} << 53) + 1);
  CHECK(rows[2][4] == 2.0);
  CHECK(rows[1][5] == -1);
  CHECK(rows[2][5] == null);
}

TEST_CASE("A large table is the same, whether written by one thread or by several") {
  CannStore store;
  fill(store);
  for (const std::string name : {"op_summary", "task_time"}) {
    const std::string csv = written_alone<CsvWriter>(store, name);
    CHECK(csv.size() > 1 << 20);
    CHECK((store.files({name}).at(name + "_20240515160507.csv") == csv));
    const std::string rows = written_alone<JsonTableWriter>(store, name);
    CHECK(
        (store.files({name}, SummaryFormat::json).at(name + "_20240515160507.table.json") == rows));
  }
}

TEST_CASE("Binary columns are the same, whether made by one thread or by several") {
  CannStore store;
  fill(store);
  const Database& db = store.db().database();
  const auto table = find_table(db, "op_summary");
  MemoryOutput text;
  ColumnWriter writer(text);
  writer.begin(table->columns(db));
  for (const OutputFile& file : table->output_files(db)) write_table(db, *table, file, writer);
  writer.end();
  // The sizes of chunks may differ, so that their values are compared.
  const ColumnRows rows = read_rows(text.buffer());
  CHECK(rows.size() == 2 * (kTasks - kTasks / 3) + 2 * (kTasks / 300 + 1));
  CHECK((rows == read_rows(written_alone<ColumnWriter>(store, "op_summary"))));
}

TEST_CASE("Rows of op_summary are in order and know the row before, whatever the chunk") {
  CannStore store;
  fill(store);
  const auto rows = read_columns(
      store, "op_summary",
      {{"device_id"}, {"task_type"}, {"task_start_time"}, {"task_duration"}, {"task_wait_time"}});
  struct Row {
    std::int64_t device, start, duration;
    bool is_collective;
  };
  std::vector<Row> expected;
  for (std::int64_t device = 0; device < 2; ++device) {
    for (std::int64_t i = 0; i < kTasks; ++i) {
      if (i % 3 != 2) expected.push_back({device, kSecond + i * 100, 90, false});
      if (i % 300 == 2) expected.push_back({device, kSecond + i * 100 + 5, 10, true});
    }
  }
  REQUIRE(rows.size() == expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = expected[i];
    REQUIRE(rows[i][0] == std::to_string(row.device));
    REQUIRE((rows[i][1] == "COMMUNICATION") == row.is_collective);
    REQUIRE(rows[i][2] == us_from_ns(row.start));
    REQUIRE(rows[i][3] == us_from_ns(row.duration));
    std::int64_t wait = 0;
    if (i > 0 && expected[i - 1].device == row.device)
      wait = row.start - expected[i - 1].start - expected[i - 1].duration;
    REQUIRE(rows[i][4] == (i == 0 ? "0" : us_from_ns(wait) + "000"));
  }
}

TEST_CASE("Rows of task_time are in the order of their starts, whatever the chunk") {
  CannStore store;
  fill(store);
  const auto rows =
      read_columns(store, "task_time", {{"device_id"}, {"task_start"}, {"kernel_name"}});
  REQUIRE(rows.size() == 2 * kTasks);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i / 2);
    REQUIRE(rows[i][0] == std::to_string(i % 2));
    REQUIRE(rows[i][1] == us_from_ns(kSecond + number * 100));
    REQUIRE(rows[i][2] == "Op, \"" + std::to_string(number % 3 + 1) + "\"");
  }
}

TEST_CASE("Rows that threads have formatted are cut into files at the same rows") {
  std::vector<std::unique_ptr<MemoryOutput>> outputs;
  const auto next = [&]() -> TextOutput& {
    return *outputs.emplace_back(std::make_unique<MemoryOutput>());
  };
  CsvWriter writer(next());
  writer.slice(3, next);
  const std::vector<std::string> columns = {"a"};
  writer.begin(columns);
  const std::unique_ptr<RowBlock> block = writer.make_block();
  for (int row = 0; row < 8; ++row) {
    CellList cells;
    cells.text("\n" + std::to_string(row) + "\"");
    block->add(cells.cells());
    if (row == 1) block->flush();
  }
  block->flush();
  REQUIRE(outputs.size() == 3);
  CHECK(outputs[0]->buffer() == "a\n\"\n0\"\"\"\n\"\n1\"\"\"\n\"\n2\"\"\"\n");
  CHECK(outputs[1]->buffer() == "a\n\"\n3\"\"\"\n\"\n4\"\"\"\n\"\n5\"\"\"\n");
  CHECK(outputs[2]->buffer() == "a\n\"\n6\"\"\"\n\"\n7\"\"\"\n");
}

TEST_CASE("An error of a sink ends the threads that make its rows") {
  CannStore store;
  fill(store);
  int rows = 0;
  CHECK_THROWS_WITH(read_table(store.db().database(), "task_time", {{"task_id"}},
                               [&](std::span<const TableValue>) {
                                 if (++rows == 30'000) throw std::runtime_error("enough");
                               }),
                    "enough");
  CHECK(rows == 30'000);
}

}  // namespace msprof::test
