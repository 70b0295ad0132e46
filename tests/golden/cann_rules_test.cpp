// Association rules that ordinary runs do not use: contexts, nested calls, kernels without calls,
// collectives of two threads in one group, ties.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

OpKind vector_op(const std::string& name) {
  return {name, "Add", Core::aiv};
}

// Writes the records of a node call that describe an operator.
void describe(ProfCapture& run, std::uint64_t ns, const std::string& name, std::uint32_t task_type,
              std::vector<std::uint32_t> contexts = {}) {
  const std::uint64_t time = run.prof.setup().host_at(ns);
  const std::uint64_t hash = run.prof.hash(name);
  run.prof.host(NodeBasic{kThread, time, hash, task_type, run.prof.hash("Type_" + name), 8, 0, 0});
  if (!contexts.empty()) {
    run.prof.host(ContextId{kThread, time, hash, std::move(contexts), kNode});
  }
}

}  // namespace

TEST_CASE(
    "more than five tensors are split into several records, and unknown formats have a name") {
  ProfCapture run;
  OpKind many = vector_op("many");
  for (std::uint32_t i = 1; i <= 5; ++i) many.tensors.push_back({0, 2, 0, {i}});
  many.tensors.push_back({0, 0xFFFFFFFF, 0xFFFFFFFF, {4, 0, 5}});
  many.tensors.push_back({1, 0, 1, {4}});
  many.tensors.push_back({1, 30, 9, {}});
  run.scene.launch(many, {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  run.products();
  const CsvTable table = run.table("op_summary");
  CHECK(table.cell(0, "Input Shapes") == "\"1;2;3;4;5;4\"");
  CHECK(table.cell(0, "Input Formats") == "ND;ND;ND;ND;ND;UNDEFINED");
  CHECK(table.cell(0, "Input Data Types") == "FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;UNDEFINED");
  CHECK(table.cell(0, "Output Shapes") == "\"4;\"");
  CHECK(table.cell(0, "Output Formats") == "NCHW;NCDHW");
  CHECK(table.cell(0, "Output Data Types") == "FLOAT16;INT64");
}

TEST_CASE("each context of an FFTS+ task keeps its own operator") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  run.scene.call(kNode, kLaunch, {kThread, 1000, 4000}, run.prof.hash("graph"));
  describe(run, 2000, "first", 0, {3});
  describe(run, 2100, "second", 2, {4});
  run.scene.track(kThread, 2500, kFftsPlus, device_task(1, 0, 0));
  run.scene.device_task(kFftsPlus, device_task(1, 10'000, 20'000));
  std::uint8_t count = 2;  // continues the task's count
  const auto thread = [&](std::uint8_t subtask, std::uint16_t context, std::uint64_t start,
                          std::uint64_t end) {
    run.prof.device(0, FftsLog{false, 0, count++, 3, 1, setup.ticks_at(start), subtask, context});
    run.prof.device(0, FftsLog{true, 0, count++, 3, 1, setup.ticks_at(end), subtask, context});
  };
  thread(0, 3, 11'000, 14'000);
  thread(1, 4, 12'000, 19'000);
  run.products();
  CHECK(run.table("op_summary")
            .cells({"Op Name", "Task Type", "Context ID", "Task Start Time(us)",
                    "Task Duration(us)"}) ==
        Lines{"first|AI_CORE|3|" + moment(11'000) + "|3.000",
              "second|AI_VECTOR_CORE|4|" + moment(12'000) + "|7.000"});
}

TEST_CASE("records and tasks belong to the innermost node call that holds them") {
  ProfCapture run;
  run.scene.call(kNode, kLaunch, {kThread, 1000, 9000}, run.prof.hash("outer"));
  run.scene.call(kNode, kLaunch, {kThread, 2000, 4000}, run.prof.hash("inner"));
  describe(run, 3900, "inner", 2);
  describe(run, 8000, "outer", 0);
  run.scene.track(kThread, 3000, kKernelAivec, device_task(1, 0, 0));
  run.scene.track(kThread, 5000, kKernelAicore, device_task(2, 0, 0));
  run.scene.device_task(kKernelAivec, device_task(1, 10'000, 11'000));
  run.scene.device_task(kKernelAicore, device_task(2, 12'000, 13'000));
  run.products();
  CHECK(run.table("op_summary").cells({"Task ID", "Op Name", "OP Type", "Task Type"}) ==
        Lines{"1|inner|Type_inner|AI_VECTOR_CORE", "2|outer|Type_outer|AI_CORE"});
}

TEST_CASE("a kernel outside all calls is an operator with its kernel name") {
  ProfCapture run;
  const OpKind lonely = {"lonely", "Add", Core::aiv, 12};
  run.scene.track(kThread, 1000, kKernelAivec, device_task(1, 0, 0), 0, &lonely);
  run.scene.device_task(kKernelAivec, device_task(1, 10'000, 11'000));
  run.scene.launch(vector_op("known"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000));
  run.products();
  CHECK(run.table("op_summary")
            .cells({"Op Name", "OP Type", "OP State", "Task Type", "Block Num", "HF32 Eligible",
                    "Input Shapes"}) ==
        Lines{"lonely_kernel|lonely_kernel|N/A|AI_VECTOR_CORE|12|N/A|N/A",
              "known|Add|dynamic|AI_VECTOR_CORE|20|NO|N/A"});
}

TEST_CASE("the kernels of Lccl are tasks, not operators") {
  ProfCapture run;
  run.scene.launch(vector_op("LcclAllReduce"), {kThread, 1000, 2000},
                   device_task(1, 10'000, 11'000));
  run.scene.launch(vector_op("known"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000));
  run.products();
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"known"});
  CHECK(run.table("task_time").column_cells("task_id") == Lines{"1", "2"});
}

TEST_CASE("tasks with the same start are sorted by stream and number") {
  ProfCapture run;
  run.scene.launch(vector_op("c"), {kThread, 1000, 2000}, {5, 1, 10'000, 11'000, 0});
  run.scene.launch(vector_op("b"), {kThread, 3000, 4000}, {4, 2, 10'000, 12'000, 0});
  run.scene.launch(vector_op("a"), {kThread, 5000, 6000}, {4, 1, 10'000, 10'500, 0});
  run.products();
  CHECK(run.table("op_summary").cells({"Stream ID", "Task ID", "Op Name"}) ==
        Lines{"4|1|a", "4|2|b", "5|1|c"});
}

TEST_CASE("a collective is split where another thread's collective starts in its group") {
  ProfCapture run;
  run.prof.set_hash(5'000'026, "group_a");
  Collective first, second;
  first.name = "hcom_a";
  second.name = "hcom_b";
  first.group = second.group = "group_a";
  first.steps = {{"Memcpy", kMemcpyAsync, {9, 0, 10'000, 11'000, 0}, 64},
                 {"Memcpy", kMemcpyAsync, {9, 1, 12'000, 13'000, 0}, 64}};
  second.steps = {{"Memcpy", kMemcpyAsync, {10, 0, 20'000, 21'000, 0}, 64}};
  // The tasks of the first collective are launched at 1300 and 1700, the task of the second at
  // 1610.
  run.scene.collective(first, kThread, 1000);
  run.scene.collective(second, kThread + 1, 1310);
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "Task Start Time(us)", "Task Duration(us)"}) ==
        Lines{"hcom_a_026_0_1|" + moment(10'000) + "|1.000",
              "hcom_a_026_1_1|" + moment(12'000) + "|1.000",
              "hcom_b_026_1_1|" + moment(20'000) + "|1.000"});
}

TEST_CASE("without hccl_info, the group is that of hccl_op_info") {
  ProfCapture run;
  run.prof.set_hash(5'000'026, "group_a");
  Collective comm;
  comm.name = "hcom_a";
  comm.group = "group_a";
  comm.steps = {{"Memcpy", kMemcpyAsync, {9, 0, 10'000, 11'000, 0}, 64}};
  run.scene.collective(comm, kThread, 1000);
  run.prof.finish();
  for (const char* end : {"", ".done"}) {
    std::filesystem::remove(run.prof.folder() / "host" / "data" /
                            ("aging.additional.hccl_info.slice_0" + std::string(end)));
  }
  const RunResult result = run.run({"export", "summary", "-q"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"hcom_a_026_0_1"});
}

TEST_CASE("two host tasks for one device task are ambiguous, and this is reported") {
  ProfCapture run;
  run.scene.launch(vector_op("known"), {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  run.scene.launch(vector_op("one"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000));
  run.scene.call(kNode, kLaunch, {kThread, 5000, 6000}, run.prof.hash("other"));
  describe(run, 5900, "other", 2);
  run.scene.track(kThread, 5500, kKernelAivec, device_task(2, 0, 0));
  run.products({3});
  CHECK(run.table("op_summary").cell(0, "Op Name") == "known");
  // The task did run, so it is kept, without a name.
  CHECK(run.table("task_time").cells({"task_id", "kernel_type"}).size() == 2);
  CHECK(run.table("task_time").cells({"task_id"}) == Lines{"1", "2"});
}

TEST_CASE("a kernel outside all calls has the model of the captured stream in all products") {
  ProfCapture run;
  const OpKind lonely = {"lonely", "Add", Core::aiv, 12};
  run.prof.host(CaptureStream{
      .time = run.prof.setup().host_at(500), .model_stream = 3, .original_stream = 9, .model = 7});
  run.scene.track(kThread, 1000, kKernelAivec, device_task(1, 0, 0), 0, &lonely);
  run.scene.device_task(kKernelAivec, device_task(1, 10'000, 11'000));
  run.scene.launch(vector_op("known"), {kThread, 3000, 4000}, {4, 2, 12'000, 13'000, 0});
  run.prof.finish();
  const RunResult result = run.run({"export", "all", "-q"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const Lines models = {"1|7", "2|4294967295"};
  CHECK(run.table("op_summary").cells({"Task ID", "Model ID"}) == models);
  const auto db = run.prof.folder() / "msprof_20231114221320.db";
  CHECK(query(db, "SELECT taskId, modelId FROM TASK ORDER BY startNs") == models);
}

TEST_CASE("a task without a call has no connection and no arrow") {
  ProfCapture run;
  const OpKind lonely = {"lonely", "Add", Core::aiv, 12};
  // A task known to the host, outside every call, and a task known only to the device.
  run.scene.track(kThread, 1000, kKernelAivec, device_task(1, 0, 0), 0, &lonely);
  run.scene.device_task(kKernelAivec, device_task(1, 10'000, 11'000));
  run.scene.device_task(kKernelAivec, device_task(2, 12'000, 13'000));
  run.scene.launch(vector_op("known"), {kThread, 3000, 4000}, device_task(3, 14'000, 15'000));
  run.prof.finish();
  const RunResult result = run.run({"export", "all", "-q"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto db = run.prof.folder() / "msprof_20231114221320.db";
  CHECK(query(db,
              "SELECT taskId, connectionId IN (SELECT connectionId FROM CANN_API),"
              " connectionId = -1 FROM TASK ORDER BY startNs") == Lines{"1|0|1", "2|0|1", "3|1|0"});
  const auto events =
      nlohmann::json::parse(read_file(run.prof.products() / "msprof_20231114221320.json"));
  Lines connections;
  int ends = 0;
  for (const auto& event : events) {
    if (event.at("ph") == "f" || event.at("ph") == "t") ++ends;
    if (event.at("ph") != "X" || !event.at("args").contains("Physic Stream Id")) continue;
    const bool is_none = event.at("args").at("connection_id") == UINT64_MAX;
    connections.push_back(event.at("args").at("Task Id").dump() + (is_none ? " none" : " a call"));
  }
  CHECK(connections == Lines{"1 none", "2 none", "3 a call"});
  CHECK(ends == 1);
}

TEST_CASE("counters that an AI CPU operator cannot have are not printed for it") {
  ProfCapture run;
  const OpKind topk = {"topk", "TopKV2", Core::aicpu, 1};
  run.scene.launch(topk, {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  // A counter record that ends within the operator.
  const OpKind core = {"core", "Add", Core::aiv, 12};
  run.scene.pmu(core, device_task(1, 10'000, 11'000), TaskPmu{3000, {8, 7, 6, 5, 4, 3, 2, 1}, {}});
  run.scene.launch(vector_op("known"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000),
                   {.pmu = TaskPmu{3000, {8, 7, 6, 5, 4, 3, 2, 1}, {}}});
  run.prof.finish();
  const RunResult result = run.run({"export", "all", "-q"});
  INFO(result.err);
  CHECK(run.table("op_summary").cells({"Op Name", "aiv_time(us)", "aiv_total_cycles"}).front() ==
        "topk|N/A|N/A");
  // The record is not lost: our database contains it, like the vendor's.
  const auto db = run.prof.folder() / "msprof_20231114221320.db";
  CHECK(query(db,
              "SELECT taskId, count(*) > 0 FROM TASK JOIN TASK_PMU_INFO USING (globalTaskId)"
              " GROUP BY taskId ORDER BY taskId") == Lines{"1|1", "2|1"});
  const RunResult old = run.run({"export", "timeline", "--style", "cann5", "-q"});
  INFO(old.err);
  const auto tasks = nlohmann::json::parse(
      read_file(run.prof.folder() / "device_0" / "timeline" / "task_time_0.json"));
  for (const auto& event : tasks) {
    if (event.at("name") == "topk") CHECK(event.at("args").at("Total Cycle") == "N/A");
    if (event.at("name") == "known") CHECK(event.at("args").at("Total Cycle") == 3000);
  }
}

TEST_CASE("time called not overlapped does not overlap computing") {
  const TempFolder folder;
  RunShape shape;
  shape.tasks = 1500;
  shape.seed = 7;
  const MadeRun run = make_run(folder.path(), {}, shape);
  REQUIRE(run_msprof({"export", "db", "-q", "-dir", run.folder.string()}).exit_code == 0);
  for (const std::string& name : names_in(run.folder)) {
    if (!name.ends_with(".db")) continue;
    const auto count = [&](const std::string& where) {
      return query(run.folder / name, "SELECT count(*) FROM OVERLAP_ANALYSIS AS a WHERE " + where);
    };
    CHECK(count("a.type = 1") != Lines{"0"});
    CHECK(count("a.type = 2 AND EXISTS(SELECT 1 FROM OVERLAP_ANALYSIS AS b WHERE b.type = 0 AND"
                " b.deviceId = a.deviceId AND b.startNs < a.endNs AND b.endNs > a.startNs)") ==
          Lines{"0"});
    CHECK(count("a.startNs >= a.endNs") == Lines{"0"});
  }
}
