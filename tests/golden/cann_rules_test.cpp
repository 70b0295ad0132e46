// Rules of the association that ordinary runs do not show: contexts, nested calls, kernels without
// calls, collectives of two threads in one group, ties.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

constexpr std::uint32_t kThread = 100;

OpKind op(const std::string& name) {
  return {name, "Add", Core::aiv};
}

// What a node call tells about an operator.
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

TEST_CASE("more than five tensors come in several records, unknown formats have a name") {
  ProfCapture run;
  OpKind many = op("many");
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
  const auto thread = [&](std::uint8_t subtask, std::uint16_t context, std::uint64_t start,
                          std::uint64_t end) {
    run.prof.device(0, FftsLog{false, 0, 0, 3, 1, setup.ticks_at(start), subtask, context});
    run.prof.device(0, FftsLog{true, 0, 0, 3, 1, setup.ticks_at(end), subtask, context});
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

TEST_CASE("a kernel that no call holds is an operator by its kernel name") {
  ProfCapture run;
  const OpKind lonely = {"lonely", "Add", Core::aiv, 12};
  run.scene.track(kThread, 1000, kKernelAivec, device_task(1, 0, 0), 0, &lonely);
  run.scene.device_task(kKernelAivec, device_task(1, 10'000, 11'000));
  run.scene.launch(op("known"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000));
  run.products();
  CHECK(run.table("op_summary")
            .cells({"Op Name", "OP Type", "OP State", "Task Type", "Block Num", "HF32 Eligible",
                    "Input Shapes"}) ==
        Lines{"lonely_kernel|lonely_kernel|N/A|AI_VECTOR_CORE|12|N/A|N/A",
              "known|Add|dynamic|AI_VECTOR_CORE|20|NO|N/A"});
}

TEST_CASE("the kernels of Lccl are tasks, not operators") {
  ProfCapture run;
  run.scene.launch(op("LcclAllReduce"), {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  run.scene.launch(op("known"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000));
  run.products();
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"known"});
  CHECK(run.table("task_time").column_cells("task_id") == Lines{"1", "2"});
}

TEST_CASE("tasks that start at the same moment come by stream and number") {
  ProfCapture run;
  run.scene.launch(op("c"), {kThread, 1000, 2000}, {5, 1, 10'000, 11'000, 0});
  run.scene.launch(op("b"), {kThread, 3000, 4000}, {4, 2, 10'000, 12'000, 0});
  run.scene.launch(op("a"), {kThread, 5000, 6000}, {4, 1, 10'000, 10'500, 0});
  run.products();
  CHECK(run.table("op_summary").cells({"Stream ID", "Task ID", "Op Name"}) ==
        Lines{"4|1|a", "4|2|b", "5|1|c"});
}

TEST_CASE("a collective splits where another thread's begins in its group, as others name it") {
  ProfCapture run;
  run.prof.set_hash(5'000'026, "group_a");
  Collective first, second;
  first.name = "hcom_a";
  second.name = "hcom_b";
  first.group = second.group = "group_a";
  first.steps = {{"Memcpy", kMemcpyAsync, {9, 0, 10'000, 11'000, 0}, 64},
                 {"Memcpy", kMemcpyAsync, {9, 1, 12'000, 13'000, 0}, 64}};
  second.steps = {{"Memcpy", kMemcpyAsync, {10, 0, 20'000, 21'000, 0}, 64}};
  // Its tasks are launched at 1300 and 1700, that of the other at 1610.
  run.scene.collective(first, kThread, 1000);
  run.scene.collective(second, kThread + 1, 1310);
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "Task Start Time(us)", "Task Duration(us)"}) ==
        Lines{"hcom_a_026_0_1|" + moment(10'000) + "|1.000",
              "hcom_a_026_1_1|" + moment(12'000) + "|1.000",
              "hcom_b_026_1_1|" + moment(20'000) + "|1.000"});
}

TEST_CASE("without hccl_info the group is that of hccl_op_info") {
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

TEST_CASE("two tasks of the host for one of the device: which it was cannot be said, and is said") {
  ProfCapture run;
  run.scene.launch(op("known"), {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  run.scene.launch(op("one"), {kThread, 3000, 4000}, device_task(2, 12'000, 13'000));
  run.scene.call(kNode, kLaunch, {kThread, 5000, 6000}, run.prof.hash("other"));
  describe(run, 5900, "other", 2);
  run.scene.track(kThread, 5500, kKernelAivec, device_task(2, 0, 0));
  run.products({3});
  CHECK(run.table("op_summary").cell(0, "Op Name") == "known");
  CHECK(run.table("task_time").cells({"task_id"}).front() == "1");
}
