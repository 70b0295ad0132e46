// Rare chips: 310, 310B, 950 and their relatives. The tests build the records; expected products
// are calculated by hand from the format notes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "golden/timeline_file.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

// PipeUtilization: 0x8 vec, 0xa mac, 0x9 scalar, 0xb mte1, 0xc mte2, 0xd mte3, 0x54, 0x55; the same
// order on chips 15 and 16, followed by fixpipe.
constexpr Counters kOtherCounters = {16'000, 32'000, 6400, 0, 8000, 4000, 500, 50};

fs::path unified_db(const ProfCapture& run) {
  const RunResult result = run.run({"export", "db", "-q"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return run.prof.folder() / "msprof_20231114221320.db";
}

// The chip, and "type|stream|task|start" of each task in the unified database.
Lines unified_tasks(const ProfCapture& run) {
  const fs::path db = unified_db(run);
  Lines lines = query(db, "SELECT name FROM NPU_INFO");
  for (const std::string& line :
       query(db,
             "SELECT (SELECT value FROM STRING_IDS WHERE id = taskType), streamId, taskId,"
             " startNs - 1700000000000000000 FROM TASK ORDER BY startNs"))
    lines.push_back(line);
  return lines;
}

ProfSetup make_setup(const std::string& platform) {
  ProfSetup setup = platform == "0"    ? setup_310()
                    : platform == "7"  ? setup_310b()
                    : platform == "15" ? setup_950()
                                       : ProfSetup();
  if (platform == "16") setup = setup_950();
  setup.platform = platform;
  return setup;
}

// "kind: reason xcount" of the findings of an import, except for products without data.
Lines findings(const nlohmann::json& verdict) {
  Lines lines;
  for (const auto& finding : verdict.at("findings")) {
    const std::string reason = finding.at("reason");
    if (reason == "no data, will not be written") continue;
    lines.push_back(finding.at("kind").get<std::string>() + ": " + reason + " x" +
                    finding.at("count").dump());
  }
  return lines;
}

bool has(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

// A run on a 310: a matrix product, a copy, an AI CPU operator.
void run_on_310(ProfCapture& run) {
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 4}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 110'000), {.pmu = TaskPmu{64'000, kOtherCounters}});
  run.scene.launch({"topk", "TopKV2", Core::aicpu, 1}, {kThread, 3000, 4000},
                   device_task(2, 120'000, 140'000));
  run.scene.copy({kThread, 5000, 6000}, device_task(3, 150'000, 155'000), 1024, 2);
}

}  // namespace

TEST_CASE("on a 310 tasks come from the time line and counters from event counts") {
  ProfCapture run(setup_310());
  run_on_310(run);
  run.products();
  const CsvTable table = run.table("op_summary");
  CHECK(table.cells({"Task ID", "Op Name", "Task Type", "Task Start Time(us)", "Task Duration(us)",
                     "Block Num"}) == Lines{"1|matmul|AI_CORE|" + moment(10'000) + "|100.000|4",
                                            "2|topk|AI_CPU|" + moment(120'000) + "|20.000|1"});
  // 64000 cycles / 1000 MHz / 4 blocks * 2 rounds of 2 cores = 32 us.
  CHECK(table.cells({"aicore_time(us)", "total_cycles", "vec_time(us)", "vec_ratio", "mac_time(us)",
                     "mac_ratio", "scalar_ratio", "mte2_time(us)", "mte2_ratio", "mte3_time(us)",
                     "mte3_ratio", "icache_miss_rate"}) ==
        Lines{"32.0|64000|8.0|0.25|16.0|0.5|0.1|4.0|0.125|2.0|0.063|0.1",
              "N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A"});
  CHECK(table.cell(0, "memory_bound") == "0.25");                // 0.125 / 0.5
  CHECK(std::stod(table.cell(0, "cube_utilization(%)")) == 32);  // 64000 / (1000 * 2) / 100
  for (const std::string& name : table.header) {
    CHECK(name != "Context ID");
    CHECK(name != "Mix Block Num");
  }
  CHECK(run.table("op_statistic").cells({"OP Type", "Core Type", "Total Time(us)", "Ratio(%)"}) ==
        Lines{"MatMulV2|AI_CORE|100|83.333", "TopKV2|AI_CPU|20|16.667"});
  CHECK(findings(run.import(0)) == Lines{});
}

TEST_CASE("on a 310, task_time has waiting times and sums equal tasks") {
  ProfCapture run(setup_310());
  run_on_310(run);
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 4}, {kThread, 7000, 8000},
                   device_task(4, 200'000, 202'500));
  run.scene.device_task(kKernelAicore, device_task(4, 300'000, 300'500));
  run.products();
  const CsvTable table = run.table("task_time");
  CHECK(table.header == Lines{"Device_id", "Time(%)", "Time(us)", "Count", "Avg(us)", "Min(us)",
                              "Max(us)", "Waiting(us)", "Running(us)", "Pending(us)", "Type", "API",
                              "Task ID", "Op Name", "Stream ID"});
  // A task waits 200 ns and is pending from 300 ns before its start until its end. The total is 128
  // us.
  CHECK(table.cells() ==
        Lines{"0|78.125|100|1|100|100|100|0.2|100|100.3|kernel AI core task|launch|1|matmul|3",
              "0|15.625|20|1|20|20|20|0.2|20|20.3|kernel AI cpu task|launch|2|topk|3",
              "0|3.906|5|1|5|5|5|0.2|5|5.3|memory copy task|aclrtMemcpyAsync|3|N/A|3",
              "0|2.344|3|2|1.5|0.5|2.5|0.4|3|3.6|kernel AI core task|launch|4|matmul|3"});
}

TEST_CASE("blocks and rate factors of a 310 are those of the counters") {
  ProfSetup setup = setup_310();
  setup.aic_metrics = "Memory";
  setup.aic_events = "0x15,0x16,0x31,0x32,0xf,0x10,0x12,0x13";
  ProfCapture run(setup);
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 4}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 110'000));
  run.prof.device(0, EventCount{0, 3, 1, 0, {0, 0, 0, 0, 0, 0, 8'388'608, 0}, 64'000, 1, 2});
  run.products();
  // 2 blocks on 2 cores: 64 us / 2. 8388608 * 256 * 8 / 32 us / 2^33.
  CHECK(run.table("op_summary")
            .cells({"aicore_time(us)", "main_mem_read_bw(GB/s)", "main_mem_write_bw(GB/s)"}) ==
        Lines{"32.0|62500.0|0.0"});
}

TEST_CASE("L2 cache rates of a 310 are not computed, and this is reported") {
  ProfSetup setup = setup_310();
  setup.l2_events = "0x59,0x5b,0x5c";
  ProfCapture run(setup);
  run_on_310(run);
  run.prof.device(0, L2Cache{0, 3, 1, {10, 5, 1}});
  run.products();
  CHECK(run.table("l2_cache").cells({"Task Id", "Hit Rate", "Victim Rate", "Op Name"}) ==
        Lines{"1|N/A|N/A|matmul"});
  CHECK(findings(run.import(0)) == Lines{"l2_cache: rates not computed x1"});
}

TEST_CASE("a 310 gives a timeline and a database") {
  ProfCapture run(setup_310());
  run_on_310(run);
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.slices("Ascend Hardware") ==
        Lines{"Stream 3|matmul|" + span(10'000, "100.0"), "Stream 3|topk|" + span(120'000, "20.0"),
              "Stream 3|MEMCPY_ASYNC|" + span(150'000, "5.0")});
  CHECK(timeline.slice("Ascend Hardware", "MEMCPY_ASYNC").at("args").at("Task Type") ==
        "memory copy task");
  CHECK(unified_tasks(run) == Lines{"Ascend310", "KERNEL_AICORE|3|1|10000",
                                    "KERNEL_AICPU|3|2|120000", "MEMCPY_ASYNC|3|3|150000"});
}

TEST_CASE("damage in the records of a 310 loses only damaged records and is reported") {
  ProfCapture run(setup_310());
  run_on_310(run);
  run.scene.launch({"add", "Add", Core::aic, 4}, {kThread, 7000, 8000},
                   device_task(4, 200'000, 202'000), {.pmu = TaskPmu{8000, kOtherCounters}});
  run.prof.device(0, TimeLine{0, 12, 3, 4, run.prof.setup().ticks_at(250'000), 1, 0});
  run.prof.device(0, TimeLine{0, 3, 3, 9, run.prof.setup().ticks_at(260'000), 1, 0});
  run.prof.finish();
  const fs::path counts = run.prof.folder() / "device_0" / "data" / "aicore.data.0.slice_0";
  const std::string bytes = read_file(counts);
  REQUIRE(bytes.size() == 224);
  write_file(counts, bytes.substr(0, 112) + "garbage" + bytes.substr(112) + bytes.substr(0, 60));
  const auto verdict = run.import(3);
  const auto told = findings(verdict);
  INFO(Catch::Detail::stringify(told));
  CHECK(has(told, "tasks: unknown state, not read x1"));
  CHECK(has(told, "tasks: state without its counterpart x1"));
  CHECK(has(told, "aicore: bytes between records x7"));
  CHECK(has(told, "aicore: incomplete record at the end x60"));
  run.products({0, 3});
  CHECK(run.table("op_summary").cells({"Op Name", "total_cycles"}) ==
        Lines{"matmul|64000", "topk|N/A", "add|8000"});
}

TEST_CASE("event counts longer than expected are read, and other records are skipped") {
  ProfCapture run(setup_310());
  for (std::uint16_t task = 1; task <= 2; ++task) {
    run.scene.launch({"add" + std::to_string(task), "Add", Core::aic, 1},
                     {kThread, 1000U * task, 1000U * task + 800},
                     device_task(task, 10'000U * task, 10'000U * task + 5000));
    EventCount count{0, 3, task, 0, kOtherCounters, 1000U * task, 1, 1};
    count.length = 128;
    run.prof.device(0, count);
    if (task == 1) run.prof.device(0, EventCount::kStem, std::string("\1\7\6\0ab", 6));
  }
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "total_cycles"}) ==
        Lines{"add1|1000", "add2|2000"});
  CHECK(findings(run.import(0)) == Lines{"aicore: records of other tags present, not read x1"});
}

TEST_CASE("on chips 7, 8 and 11 tasks come from STARS, with times rounded as by these chips") {
  const std::string platform = GENERATE("7", "8", "11");
  INFO(platform);
  const ProfSetup setup = make_setup(platform);
  ProfCapture run(setup);
  // 0x416, 0x417 mac; 0x9 scalar; 0x302 mte1; 0xc mte2; 0x303 fixpipe; 0x54, 0x55 icache.
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 1}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 110'000),
                   {.pmu = TaskPmu{12'344, {6000, 172, 0, 0, 3086, 0, 500, 50}}});
  run.scene.launch({"topk", "TopKV2", Core::aicpu, 1}, {kThread, 3000, 4000},
                   device_task(2, 120'000, 140'000));
  if (platform != "7")
    run.scene.launch({"add", "Add", Core::aiv, 40}, {kThread, 5000, 6000},
                     device_task(3, 150'000, 160'000), {.pmu = TaskPmu{40'000, {20'000}}});
  run.products();
  const CsvTable table = run.table("op_summary");
  Lines expected{"1|matmul|AI_CORE|100.000|0|N/A", "2|topk|AI_CPU|20.000|0|N/A"};
  if (platform != "7") expected.push_back("3|add|AI_VECTOR_CORE|10.000|0|N/A");
  CHECK(table.cells({"Task ID", "Op Name", "Task Type", "Task Duration(us)", "Mix Block Num",
                     "Context ID"}) == expected);
  // The total of 12.344 us is rounded to 12.34 before other values are computed from it.
  const CsvTable first{table.header, {table.rows.front()}};
  CHECK(first.cells({"aicore_time(us)", "total_cycles", "mac_time(us)", "mac_ratio",
                     "mte2_time(us)", "mte2_ratio", "icache_miss_rate"}) ==
        Lines{"12.34|12344|6.17|0.5|3.085|0.25|0.1"});
  CHECK(run.table("task_time").cells({"kernel_type", "task_id", "task_time(us)"}).size() ==
        expected.size());
  CHECK(run.table("op_statistic").rows.size() == expected.size());
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.slices("Ascend Hardware").front() == "Stream 3|matmul|" + span(10'000, "100.0"));
  const Lines tasks = unified_tasks(run);
  CHECK(tasks[0] == (platform == "7" ? "Ascend310B" : "UNKNOWN"));
  CHECK(tasks[1] == "KERNEL_AICORE|3|1|10000");
  CHECK(findings(run.import(0)) == Lines{});
}

TEST_CASE("chips 7, 8 and 11: a damaged log loses only its task") {
  const std::string platform = GENERATE("7", "8", "11");
  INFO(platform);
  ProfCapture run(make_setup(platform));
  for (std::uint16_t task = 1; task <= 3; ++task)
    run.scene.launch({"op_" + std::to_string(task), "Add", Core::aic, 1},
                     {kThread, 1000U * task, 1000U * task + 800},
                     device_task(task, 10'000U * task, 10'000U * task + 5000));
  run.prof.finish();
  const fs::path logs = run.prof.folder() / "device_0" / "data" / "stars_soc.data.0.slice_0";
  std::string bytes = read_file(logs);
  REQUIRE(bytes.size() == 6 * 64);
  bytes[2 * 64 + 2] = 0;
  write_file(logs, bytes);
  const auto told = findings(run.import(3));
  CHECK(has(told, "stars_soc: bad magic x1"));
  run.products({0, 3});
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"op_1", "op_3"});
}

TEST_CASE("step trace marks among launches use no task on chips without wraparounds of ids") {
  ProfCapture run(make_setup("11"));
  run.prof.set_type(kRuntime, 60, "PROFILER_TRACE_EX");
  const OpKind add = {"add", "Add", Core::aic, 1};
  run.scene.launch(add, {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  run.scene.track(kThread, 3000, 60, device_task(1, 0, 0));
  run.products();
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"add"});
}

TEST_CASE("on chips 15 and 16 task ids have 32 bits, and streams are read from the host") {
  const std::string platform = GENERATE("15", "16");
  INFO(platform);
  ProfCapture run(make_setup(platform));
  const auto& setup = run.prof.setup();
  TaskPmu pmu{64'000, kOtherCounters, {}, {6400, 0}};
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 20}, {kThread, 1000, 2000},
                   {3, 7, 10'000, 110'000, 0, 1}, {.pmu = pmu});
  // A task with the same low bits of the id, on another stream.
  run.scene.launch({"add", "Add", Core::aiv, 40}, {kThread, 3000, 4000},
                   {5, 7, 120'000, 130'000, 0, 2}, {.pmu = TaskPmu{40'000, {20'000}}});
  run.scene.launch({"topk", "TopKV2", Core::aicpu, 1}, {kThread, 5000, 6000},
                   {5, 8, 140'000, 150'000, 0, 2});
  run.scene.copy({kThread, 7000, 8000}, {3, 9, 160'000, 165'000, 0, 0}, 1024, 2);
  // A task that the host did not launch.
  for (const bool is_end : {false, true})
    run.prof.device(0, LogV6{is_end, 21, static_cast<std::uint8_t>(8 + (is_end ? 1 : 0)),
                             0xABCD0001, setup.ticks_at(is_end ? 171'000 : 170'000)});
  run.products();
  const CsvTable table = run.table("op_summary");
  CHECK(table.cells({"Task ID", "Stream ID", "Op Name", "Task Type", "Task Duration(us)",
                     "Context ID"}) == Lines{"65543|3|matmul|AI_CORE|100.000|N/A",
                                             "131079|5|add|AI_VECTOR_CORE|10.000|N/A",
                                             "131080|5|topk|AI_CPU|10.000|N/A"});
  // Times equal those in the records.
  CHECK(table.cells({"aicore_time(us)", "aic_total_cycles", "aic_mac_time(us)", "aic_mac_ratio",
                     "aic_scalar_ratio", "aic_mte2_ratio", "aic_fixpipe_time(us)",
                     "aic_fixpipe_ratio", "aic_icache_miss_rate", "aiv_time(us)",
                     "aiv_total_cycles", "aiv_vec_ratio"}) ==
        Lines{"100.0|64000|50.0|0.5|0.1|0.125|10.0|0.1|0.1|0.0|0|0.0",
              "0.0|0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|10.0|40000|0.5",
              "N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A"});
  CHECK(run.table("task_time").cells({"kernel_type", "stream_id", "task_id"}) ==
        Lines{"AI_CORE|3|65543", "AI_VECTOR_CORE|5|131079", "AI_CPU|5|131080", "MEMCPY_ASYNC|3|9",
              "END_SQE|65535|2882338817"});
  CHECK(run.table("aicpu").cells({"Node", "Stream ID", "Task ID"}) == Lines{"topk|5|131080"});
  CHECK(run.table("op_statistic").cells({"OP Type", "Core Type", "Count"}) ==
        Lines{"MatMulV2|AI_CORE|1", "Add|AI_VECTOR_CORE|1", "TopKV2|AI_CPU|1"});
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.threads("Ascend Hardware") ==
        Lines{"3|Stream 3|3", "5|Stream 5|5", "65535|Stream 65535|65535"});
  CHECK(timeline.slice("Ascend Hardware", "add").at("args").at("Task Id") == 131'079);
  CHECK(timeline.slice("Ascend Hardware", "MEMCPY_ASYNC").at("args").at("Task Type") == "SDMA_SQE");
  CHECK(unified_tasks(run) == Lines{platform == "15" ? "Ascend950" : "UNKNOWN",
                                    "KERNEL_AICORE|3|65543|10000", "KERNEL_AIVEC|5|131079|120000",
                                    "KERNEL_AICPU|5|131080|140000", "MEMCPY_ASYNC|3|9|160000",
                                    "END_SQE|65535|2882338817|170000"});
  CHECK(findings(run.import(0)) == Lines{});
}

TEST_CASE("other log and counter fields of chips 15 and 16 are not read, and this is reported") {
  ProfSetup setup = setup_950();
  setup.aiv_metrics = "PipeStallCycle";
  ProfCapture run(setup);
  TaskPmu pmu{64'000, kOtherCounters, {{900, {100}}, {901, {101}}}, {}};
  run.scene.launch({"mix", "MatMulAdd", Core::mix_aic, 20, 2}, {kThread, 1000, 2000},
                   {3, 1, 10'000, 20'000, 0, 0}, {.pmu = pmu});
  run.prof.device(0, LogV6{false, 0, 2, 1, run.prof.setup().ticks_at(11'000), 36});
  run.prof.device(0, LogV6{true, 0, 3, 1, run.prof.setup().ticks_at(12'000), 36});
  run.prof.device(0, LogV6{false, 0, 4, 1, run.prof.setup().ticks_at(13'000), 22});
  run.products();
  // The second vector-core record belongs to no task.
  CHECK(run.table("op_summary")
            .cells({"Op Name", "Task Type", "aic_total_cycles", "aic_mac_ratio",
                    "aiv_total_cycles"}) == Lines{"mix|MIX_AIC|64000|0.5|900"});
  CHECK(findings(run.import(0)) == Lines{"pmu: metrics of PipeStallCycle, not read x1",
                                         "stars_soc: logs of blocks, not read x2",
                                         "tasks: counters without a task x1",
                                         "stars_soc: subtask without its start or end x1"});
}

TEST_CASE("chips 15 and 16: damaged logs and counters lose only their tasks") {
  ProfCapture run(setup_950());
  for (std::uint16_t task = 1; task <= 3; ++task)
    run.scene.launch({"op_" + std::to_string(task), "Add", Core::aic, 20},
                     {kThread, 1000U * task, 1000U * task + 800},
                     device_task(task, 10'000U * task, 10'000U * task + 5000),
                     {.pmu = TaskPmu{1000U * task, kOtherCounters}});
  run.prof.finish();
  const fs::path data = run.prof.folder() / "device_0" / "data";
  std::string logs = read_file(data / "stars_soc.data.0.slice_0");
  REQUIRE(logs.size() == 6 * 32);
  logs[2 * 32 + 2] = 0;                    // start of the second task
  logs[4 * 32] = static_cast<char>(0xFF);  // unknown function type of the third task
  write_file(data / "stars_soc.data.0.slice_0", logs);
  std::string counters = read_file(data / "ffts_profile.data.0.slice_0");
  REQUIRE(counters.size() == 3 * 128);
  write_file(data / "ffts_profile.data.0.slice_0", counters.substr(0, 3 * 128 - 28));
  const auto told = findings(run.import(3));
  INFO(Catch::Detail::stringify(told));
  CHECK(has(told, "stars_soc: bad magic x1"));
  CHECK(has(told, "stars_soc: unknown function type x1"));
  CHECK(has(told, "tasks: end without start x2"));
  run.products({0, 3});
  CHECK(run.table("op_summary").cells({"Op Name", "aic_total_cycles"}) == Lines{"op_1|1000"});
}

TEST_CASE("chips 15 and 16: blocks known at launch, step marks and L2 cache victims are exported") {
  ProfSetup setup = setup_950();
  setup.l2_events = "0x0,0x81,0x82,0x83,0x74,0x75";
  ProfCapture run(setup);
  run.scene.launch({"tiled", "MatMulV2", Core::aic, 20}, {kThread, 1000, 2000},
                   {3, 7, 10'000, 110'000, 0, 1}, {.pmu = TaskPmu{64'000, kOtherCounters}});
  // The id of the task, low half first.
  run.prof.device(0, TsBlocks{run.prof.setup().ticks_at(9000), 7, 1, 10, 0});
  run.prof.device(0, L2Cache{0, 3, 7, {100, 10, 10, 10, 15, 5}});
  std::uint64_t at = 5000;
  for (const std::uint16_t tag : std::initializer_list<std::uint16_t>{0, 2, 3, 4, 1})
    run.scene.step(0, at += 1000, tag, 1, 1, 9);
  run.products();
  CHECK(run.table("op_summary").cells({"Block Num", "aicore_time(us)"}) == Lines{"10|100.0"});
  CHECK(run.table("l2_cache").cells({"Stream Id", "Task Id", "Hit Rate", "Victim Rate"}) ==
        Lines{"3|7|N/A|0.2"});
  CHECK(run.table("step_trace").cells({"Iteration ID", "FP Start(us)", "Iteration Time(us)"}) ==
        Lines{"1|" + moment(7000) + "|3.000"});
}
