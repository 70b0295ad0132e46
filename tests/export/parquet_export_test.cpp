// A capture as Parquet files: the rows of its views, in the folder of its rank.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "base/owner_lock.hpp"
#include "export/exporter.hpp"
#include "export/parquet/parquet_export.hpp"
#include "export/parquet/parquet_tables.hpp"
#include "import/importer.hpp"
#include "query/query_db.hpp"
#include "support/cann_store.hpp"
#include "support/face_session.hpp"
#include "support/parquet/parquet_reader.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/small_disk.hpp"

namespace msprof {
namespace {

namespace fs = std::filesystem;
using test::CannStore;
using test::ParquetCell;
using Rows = std::vector<std::vector<ParquetCell>>;

constexpr std::int64_t kStartNs = CannStore::kBeginNs;

std::string row_lines(const Rows& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (const ParquetCell& cell : row) {
      if (const auto* number = std::get_if<std::int64_t>(&cell)) text += std::to_string(*number);
      if (const auto* letters = std::get_if<std::string>(&cell)) text += *letters;
      text += '|';
    }
    text += '\n';
  }
  return text;
}

// Rows of a file; all columns if `columns` is empty.
Rows read_rows(const fs::path& path, std::vector<std::string> columns = {}) {
  const auto file = test::read_parquet(path);
  if (columns.empty()) {
    for (const auto& column : file.columns) columns.push_back(column.name);
  }
  Rows rows(file.rows);
  for (const std::string& name : columns) {
    const auto cells = file.column(name);
    for (std::size_t i = 0; i < cells.size(); ++i) rows.at(i).push_back(cells[i]);
  }
  return rows;
}

Rows rows_of_view(const TraceDb& store, const std::string& sql) {
  const QueryDb db(store);
  Rows rows;
  for (Statement read = db.prepare(sql); read.step();) {
    rows.emplace_back();
    for (int i = 0; i < read.column_count(); ++i) {
      rows.back().push_back(read.is_null(i)      ? ParquetCell()
                            : read.is_integer(i) ? ParquetCell(read.integer(i))
                                                 : ParquetCell(std::string(read.text(i))));
    }
  }
  return rows;
}

// A view of a capture, with columns and SQL for comparison with its file.
struct TableOfView {
  std::string table;
  std::vector<std::string> columns;
  std::string sql;
};
std::string ns(const std::string& us) {
  return "CAST(round(" + us + " * 1000) AS INTEGER)";
}
std::vector<TableOfView> tables_of_views() {
  return {
      {"tasks",
       {"task_id", "device_id", "model_id", "execution", "stream_id", "task_number", "op_id",
        "op_name", "op_type", "task_type", "start_ns", "duration_ns", "call_id", "kernel"},
       "SELECT task_id, device_id, model_id, execution, stream_id, task_number, op_id, op_name,"
       " op_type, task_type, start_ns, " +
           ns("duration_us") + ", call_id, kernel FROM v_tasks ORDER BY task_id"},
      {"calls",
       {"call_id", "process_id", "thread_id", "level", "type", "name", "item", "start_ns",
        "duration_ns"},
       "SELECT call_id, process_id, thread_id, level, type, name, item, start_ns, (SELECT end_ns -"
       " start_ns FROM api_call WHERE id = call_id) FROM v_api_calls ORDER BY call_id"},
      {"collectives",
       {"device_id", "model_id", "name", "type", "group_name", "rank_count", "start_ns"},
       "SELECT device_id, model_id, name, type, group_name, rank_count, start_ns FROM v_collectives"
       " ORDER BY device_id, start_ns, name"},
      {"collectives",
       {"collective_id", "start_ns", "end_ns", "duration_ns"},
       "SELECT id, start_ns, end_ns, end_ns - start_ns FROM comm_op ORDER BY id"},
      {"ops",
       {"op_id", "model_id", "model", "position", "layer_id", "name", "original_names", "type",
        "unit", "input_shapes", "output_shapes", "input_types", "block_num", "count", "total_ns",
        "min_ns", "max_ns"},
       "SELECT op_id, model_id, model, position, layer_id, name, original_names, type, unit,"
       " input_shapes, output_shapes, input_types, block_num, count, " +
           ns("total_us") + ", " + ns("min_us") + ", " + ns("max_us") +
           " FROM v_ops ORDER BY op_id"}};
}

fs::path file_in(const fs::path& dir, const std::string& table, const std::string& rank,
                 const std::string& name) {
  return dir / table / rank / (name + ".parquet");
}

void check_against_views(const TraceDb& store, const fs::path& dir) {
  ParquetOptions options;
  options.group_rows = 700;
  options.page_rows = 128;
  REQUIRE(export_parquet(store, dir, "capture", options).size() == 4);
  for (const TableOfView& one : tables_of_views()) {
    CAPTURE(one.table);
    const fs::path path = file_in(dir, one.table, "rank=-1", "capture");
    const Rows rows = read_rows(path, one.columns);
    const Rows expected = rows_of_view(store, one.sql);
    CHECK(rows.size() == expected.size());
    const auto differing =
        std::mismatch(rows.begin(), rows.end(), expected.begin(), expected.end());
    if (rows != expected && differing.first != rows.end() && differing.second != expected.end())
      CHECK(row_lines({*differing.first}) == row_lines({*differing.second}));
    CHECK((rows == expected));
  }
}

TEST_CASE("Parquet files of a PROF folder have the rows of its views") {
  log::set_level(log::Level::silent);
  const test::TempFolder folder;
  test::prof::RunShape shape;
  shape.tasks = 1500;
  const auto run = test::prof::make_run(folder.path(), {}, shape);
  import_session(*Session::open(run.folder), folder / "msprof.db", {});
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  check_against_views(*store, folder / "out");
  const auto tasks = read_rows(file_in(folder / "out", "tasks", "rank=-1", "capture"), {"task_id"});
  CHECK(tasks.size() >= run.facts.tasks);
  const auto collectives =
      read_rows(file_in(folder / "out", "collectives", "rank=-1", "capture"), {"sequence"});
  CHECK(collectives.size() == run.facts.collectives);
}

TEST_CASE("Parquet files of a board's capture have the rows of its views") {
  log::set_level(log::Level::silent);
  const test::TempFolder folder;
  test::JobBuilder job(folder.path(), "JOBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  test::add_face(job);
  import_session(*Session::open(job.folder()), folder / "msprof.db", {});
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  check_against_views(*store, folder / "out");
  CHECK(read_rows(file_in(folder / "out", "tasks", "rank=-1", "capture")).size() > 4);
  CHECK(row_lines(read_rows(file_in(folder / "out", "tasks", "rank=-1", "capture"),
                            {"step", "device_id", "model_id"}))
            .starts_with("0|0|31|\n"));
}

// One device, two steps of the framework, an operator and a collective.
void fill(CannStore& store) {
  OpRow op;
  op.id = 5;
  op.name_id = store.name("MatMul_1");
  op.type_name_id = store.name("MatMul");
  op.unit_name_id = store.name("AI_CORE");
  op.block_num = 20;
  store.add(op);
  const auto add_task = [&](std::int64_t id, std::int64_t start_ns, std::int64_t duration_ns,
                            std::int64_t op_id) {
    TaskRow task;
    task.id = id;
    task.device_id = 3;
    task.stream_id = 2;
    task.task_number = id + 40;
    task.start_ns = start_ns;
    task.duration_ns = duration_ns;
    task.op_id = op_id;
    task.model_number = 8;
    task.device_type_name_id = store.name("SDMA");
    task.api_id = id + 1;
    store.add(task);
  };
  add_task(1, kStartNs + 10, 100, 5);
  add_task(2, kStartNs + 500, kNull, 5);
  add_task(4, kStartNs + 999, 40, kNull);
  add_task(5, kStartNs + 1000, 60, 5);
  const auto add_step = [&](std::int64_t id, std::int64_t start_ns, std::int64_t end_ns,
                            std::int64_t number, std::int64_t is_framework) {
    IterationRow step;
    step.id = id;
    step.device_id = 3;
    step.model_number = 8;
    step.start_ns = start_ns;
    step.end_ns = end_ns;
    step.number = number;
    step.is_framework_step = is_framework;
    store.add(step);
  };
  add_step(1, kStartNs, kStartNs + 5000, 77, 0);
  add_step(2, kStartNs + 400, kStartNs + 1000, 12, 1);
  add_step(3, kStartNs + 1000, kStartNs + 2000, 13, 1);
  CommCallRow call;
  call.id = 9;
  call.op_type_name_id = store.name("hcom_allReduce_");
  call.op_algorithm_name_id = store.name("RING");
  call.op_data_type = 4;
  call.op_count = 4096;
  store.add(call);
  for (std::int64_t id = 1; id <= 2; ++id) {
    CommOpRow collective;
    collective.id = id;
    collective.device_id = 3;
    collective.name_id = store.name("hcom_allReduce__1_" + std::to_string(id));
    collective.group_name_id = store.name("group");
    collective.start_ns = kStartNs + 500 * id;
    collective.end_ns = kStartNs + 500 * id + 70;
    collective.model_number = 8;
    collective.rank_size = 16;
    collective.first_comm_call_id = id == 1 ? 9 : kNull;
    store.add(collective);
  }
  store.add(CommOpTaskRow{4, 1});
  store.add(CommOpTaskRow{5, 2});
  ApiCallRow launch;
  launch.id = 2;
  launch.process_id = 71;
  launch.thread_id = 72;
  launch.level = 5000;
  launch.name_id = store.name("KernelLaunch");
  launch.start_ns = kStartNs - 50;
  launch.end_ns = kStartNs - 20;
  store.add(launch);
  launch.id = 3;
  launch.level = 123;
  launch.end_ns = kNull;
  launch.name_id = 4242;  // an id without a text
  store.add(launch);
}

TEST_CASE("Steps, collectives and their tasks equal the store") {
  CannStore store;
  fill(store);
  store.set_meta("host.rank", "17");
  const auto files = export_parquet(store.db(), store.folder() / "out", "PROF_1");
  REQUIRE(files.size() == 4);
  const fs::path dir = store.folder() / "out";
  for (const ExportedFile& file : files) CHECK(fs::file_size(file.path) == file.bytes);
  CHECK(row_lines(read_rows(file_in(dir, "tasks", "rank=00017", "PROF_1"))) ==
        "PROF_1|1|3|8|||2|41|5|MatMul_1|MatMul|AI_CORE|1000000010|100|2|||\n"
        "PROF_1|2|3|8|12||2|42|5|MatMul_1|MatMul|AI_CORE|1000000500||3|||\n"
        "PROF_1|4|3|8|12||2|44||||SDMA|1000000999|40|5|1||\n"
        "PROF_1|5|3|8|13||2|45|5|MatMul_1|MatMul|AI_CORE|1000001000|60|6|2||\n");
  CHECK(row_lines(read_rows(file_in(dir, "calls", "rank=00017", "PROF_1"))) ==
        "PROF_1|2|71|72|runtime||KernelLaunch||999999950|30|\nPROF_1|3|71|72|123||||999999950||\n");
  CHECK(row_lines(read_rows(file_in(dir, "collectives", "rank=00017", "PROF_1"))) ==
        "PROF_1|1|3|8|12|hcom_allReduce__1_1|hcom_allReduce_|group|0|16|RING|4|4096|1000000500|"
        "1000000570"
        "|70|\n"
        "PROF_1|2|3|8|13|hcom_allReduce__1_2||group|1|16||||1000001000|1000001070|70|\n");
  CHECK(row_lines(read_rows(file_in(dir, "ops", "rank=00017", "PROF_1"))) ==
        "PROF_1|5|||||MatMul_1||MatMul|AI_CORE||||20|2|160|60|100|\n");
  const auto file = test::read_parquet(file_in(dir, "ops", "rank=00017", "PROF_1"));
  CHECK(file.metadata.at("msprof.table") == "ops");
  CHECK(file.metadata.at("msprof.capture") == "PROF_1");
  CHECK(file.metadata.at("msprof.dialect") == "cann");
}

TEST_CASE("Times at the limits of their range and missing operators are exported") {
  CannStore store;
  TaskRow task;
  task.id = INT64_MAX;
  task.op_id = INT64_MAX;
  task.step_id = 4;
  task.start_ns = INT64_MAX;
  task.duration_ns = INT64_MAX;
  store.add(task);
  OpRow op;
  op.id = 7;
  op.model_row = 99;
  store.add(op);
  op.id = 8;
  store.add(op);
  for (const std::int64_t id : {1, 2}) {
    task = {};
    task.id = id;
    task.op_id = id == 1 ? 7 : 8;
    task.duration_ns = INT64_MAX;
    store.add(task);
  }
  task.id = 3;
  store.add(task);
  ApiCallRow call;
  call.id = 1;
  call.start_ns = INT64_MIN + 1;
  call.end_ns = INT64_MAX;
  store.add(call);
  export_parquet(store.db(), store.folder() / "out", "x");
  CHECK(row_lines(read_rows(file_in(store.folder() / "out", "calls", "rank=-1", "x"),
                            {"duration_ns"})) == "9223372036854775807|\n");
  CHECK(row_lines(read_rows(file_in(store.folder() / "out", "ops", "rank=-1", "x"),
                            {"op_id", "count", "total_ns"})) ==
        "7|1|9223372036854775807|\n8|2|9223372036854775807|\n");
  CHECK(read_rows(file_in(store.folder() / "out", "tasks", "rank=-1", "x")).size() == 4);
}

TEST_CASE("Invalid UTF-8 is repaired so that readers accept the file") {
  CannStore store;
  ApiCallRow call;
  call.id = 1;
  call.name_id = store.name("good\xFFname");
  store.add(call);
  export_parquet(store.db(), store.folder() / "out", "x");
  CHECK(row_lines(read_rows(file_in(store.folder() / "out", "calls", "rank=-1", "x"), {"name"})) ==
        "good\xEF\xBF\xBDname|\n");
}

TEST_CASE("A capture without tasks, calls and collectives creates no file and no folder") {
  CannStore store;
  CHECK(export_parquet(store.db(), store.folder() / "out", "x").empty());
  CHECK_FALSE(fs::exists(store.folder() / "out"));
}

TEST_CASE("An export replaces its earlier files, including those named without rank") {
  CannStore store;
  fill(store);
  const fs::path dir = store.folder() / "out";
  export_parquet(store.db(), dir, "PROF_1");
  export_parquet(store.db(), dir, "PROF_2");
  const std::string first = test::read_file(file_in(dir, "tasks", "rank=-1", "PROF_1"));
  export_parquet(store.db(), dir, "PROF_1");
  CHECK(test::read_file(file_in(dir, "tasks", "rank=-1", "PROF_1")) == first);
  ParquetOptions ranked;
  ranked.rank = 123456;
  export_parquet(store.db(), dir, "PROF_1", ranked);
  using Names = std::vector<std::string>;
  for (const char* table : {"tasks", "calls", "collectives", "ops"}) {
    CAPTURE(table);
    CHECK(test::names_in(dir / table / "rank=-1") == Names{"PROF_2.parquet"});
    CHECK(test::names_in(dir / table / "rank=123456") == Names{"PROF_1.parquet"});
  }
  export_parquet(store.db(), dir, "PROF_2", ranked);
  CHECK(test::names_in(dir / "tasks") == Names{"rank=123456"});
  CHECK(test::names_in(dir / "tasks" / "rank=123456") == Names{"PROF_1.parquet", "PROF_2.parquet"});
}

TEST_CASE("Files are written to the named folder, whatever the names of captures") {
  CannStore store;
  fill(store);
  const fs::path dir = store.folder() / "out";
  for (const char* name : {"../../x", "..", "", ".hidden", "_kept", "a\nb"})
    export_parquet(store.db(), dir, name);
  CHECK(test::names_in(dir / "ops" / "rank=-1").size() == 6);
  for (const std::string& name : test::names_in(dir / "ops" / "rank=-1")) {
    CAPTURE(name);
    CHECK(name.ends_with(".parquet"));
    CHECK(name.front() != '.');
    CHECK(name.front() != '_');
  }
  CHECK(test::names_in(dir) == std::vector<std::string>{"calls", "collectives", "ops", "tasks"});
  fs::create_directory(store.folder() / "elsewhere");
  fs::remove_all(dir / "tasks");
  fs::create_directory_symlink(store.folder() / "elsewhere", dir / "tasks");
  CHECK_THROWS_AS(export_parquet(store.db(), dir, "x"), Error);
  CHECK(fs::is_empty(store.folder() / "elsewhere"));
}

TEST_CASE("A failed export leaves the files of the earlier one unchanged") {
  CannStore store;
  fill(store);
  const fs::path dir = store.folder() / "out";
  export_parquet(store.db(), dir, "x");
  fs::remove_all(dir / "ops");
  const std::string before = test::read_file(file_in(dir, "tasks", "rank=-1", "x"));
  test::write_file(dir / "ops", "a file, where the last folder should be");
  ParquetOptions other;
  other.page_rows = 1;
  CHECK_THROWS_AS(export_parquet(store.db(), dir, "x", other), Error);
  for (const char* table : {"tasks", "calls", "collectives"})
    CHECK(test::names_in(dir / table / "rank=-1") == std::vector<std::string>{"x.parquet"});
  CHECK(test::read_file(file_in(dir, "tasks", "rank=-1", "x")) == before);
}

TEST_CASE("A full disk is reported, and earlier files remain") {
  if (!test::SmallDisk::is_available_or_skip()) return;
  const test::SmallDisk disk(96 << 10);
  CannStore store;
  fill(store);
  export_parquet(store.db(), disk / "out", "x");
  const std::string before = test::read_file(file_in(disk / "out", "tasks", "rank=-1", "x"));
  test::write_file(disk / "filler", std::string(4096, 'x'));
  std::error_code error;
  for (int i = 0; i < 100 && fs::space(disk.path(), error).available > 0; ++i)
    fs::copy_file(disk / "filler", disk / ("filler" + std::to_string(i)), error);
  try {
    export_parquet(store.db(), disk / "out", "x");
    FAIL("the disk was not full");
  } catch (const Error& full) {
    CHECK(full.code() == Exit::cannot_write);
  }
  CHECK(test::read_file(file_in(disk / "out", "tasks", "rank=-1", "x")) == before);
  CHECK(test::names_in(disk / "out" / "tasks" / "rank=-1") ==
        std::vector<std::string>{"x.parquet"});
}

TEST_CASE("msprof export parquet writes captures of many ranks to one folder") {
  const test::TempFolder folder;
  test::prof::RunShape shape;
  shape.tasks = 60;
  const auto first = test::prof::make_run(folder / "0", {}, shape);
  const auto second = test::prof::make_run(folder / "1", {}, shape);
  const std::string out = (folder / "job").string();
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"export", "parquet"});
    return test::run_msprof(words).exit_code;
  };
  CHECK(run({"-dir", first.folder.string(), "--output", out, "--rank", "7"}) == 0);
  CHECK(run({"-dir", second.folder.string(), "--output", out, "--rank", "8"}) == 0);
  using Names = std::vector<std::string>;
  CHECK(test::names_in(out) == Names{"calls", "collectives", "ops", "tasks"});
  CHECK(test::names_in(folder / "job" / "tasks") == Names{"rank=00007", "rank=00008"});
  const std::string name = first.folder.filename().string();
  CHECK(read_rows(file_in(out, "tasks", "rank=00007", name)).size() >= first.facts.tasks);

  CHECK(run({"-dir", first.folder.string(), "--store", (folder / "stores").string()}) == 0);
  CHECK(test::names_in(first.folder / "parquet" / "ops") == Names{"rank=-1"});
  CHECK(fs::exists(folder / "stores" / "sqlite" / "msprof.db"));

  CHECK(run({"-dir", first.folder.string(), "--rank", "-1"}) == 2);
  CHECK(run({"-dir", first.folder.string(), second.folder.string(), "--rank", "1"}) == 2);
  CHECK(run({"-dir", (folder / "nothing").string()}) == 4);
}

TEST_CASE("A damaged store is imported again from the raw data before the export") {
  const test::TempFolder folder;
  test::prof::RunShape shape;
  shape.tasks = 60;
  const auto made = test::prof::make_run(folder.path(), {}, shape);
  const fs::path store = made.folder / "sqlite" / "msprof.db";
  REQUIRE(test::run_msprof({"import", "-dir", made.folder.string()}).exit_code == 0);
  const auto bytes = fs::file_size(store);
  fs::resize_file(store, 3000);
  const auto run = test::run_msprof({"export", "parquet", "-dir", made.folder.string()});
  CHECK(run.exit_code == 0);
  CHECK(fs::file_size(store) == bytes);
  const std::string name = made.folder.filename().string();
  CHECK(read_rows(file_in(made.folder / "parquet", "calls", "rank=-1", name)).size() > 60);
}

TEST_CASE("Files of killed exports are removed; files of other programs stay") {
  CannStore store;
  fill(store);
  const fs::path folder = store.folder() / "out" / "tasks" / "rank=-1";
  fs::create_directories(folder);
  test::write_file(folder / (".x.parquet.0123456789abcdef-" + machine_tag() + ".msprof-tmp"),
                   "half");
  test::write_file(folder / ".z.parquet.2147483647.0.msprof-tmp", "half, of an earlier version");
  const TemporaryFile live(folder / "y.parquet");
  const std::string name = live.path().filename().string();
  export_parquet(store.db(), store.folder() / "out", "x");
  std::vector<std::string> expected = {name, ".z.parquet.2147483647.0.msprof-tmp", "x.parquet"};
  std::sort(expected.begin(), expected.end());
  CHECK(test::names_in(folder) == expected);
}

TEST_CASE("The manual describes every column of the Parquet files") {
  const std::string page = test::read_file(std::string(MSPROF_PAGES) + "/docs/parquet.md");
  for (const parquet::ParquetTable& table : parquet::tables()) {
    const auto begin = page.find("\n`" + std::string(table.name) + "`: ");
    CAPTURE(table.name);
    REQUIRE(begin != std::string::npos);
    const std::string part =
        page.substr(begin, page.find("\n\n", page.find("|---|", begin)) - begin);
    for (const parquet::TableColumn& column : table.columns) {
      CAPTURE(column.name);
      CHECK(part.find("`" + std::string(column.name) + "`") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace msprof
