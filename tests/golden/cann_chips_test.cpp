// 910A and 310P: other logs, other counters.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

// PipeUtilization: 0x8 vec, 0xa mac, 0x9 scalar, 0xb mte1, 0xc mte2, 0xd mte3, 0x54, 0x55.
constexpr Counters kCounters = {16'000, 32'000, 6400, 0, 8000, 4000, 500, 50};

const std::vector<std::string> kPmuCells = {
    "aicore_time(us)", "total_cycles", "vec_time(us)",    "vec_ratio",     "mac_time(us)",
    "mac_ratio",       "scalar_ratio", "mte1_ratio",      "mte2_time(us)", "mte2_ratio",
    "mte3_time(us)",   "mte3_ratio",   "icache_miss_rate"};

}  // namespace

TEST_CASE("on a 910A tasks come from hwts.data and counters from aicore.data") {
  ProfCapture run(setup_910a());
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 32}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 20'000), {.pmu = TaskPmu{64'000, kCounters}});
  run.scene.launch({"topk", "TopKV2", Core::aicpu, 1}, {kThread, 3000, 4000},
                   device_task(2, 20'200, 21'000));
  run.scene.copy({kThread, 5000, 6000}, device_task(3, 21'100, 22'100), 1024, 2);
  run.products();
  const CsvTable table = run.table("op_summary");
  CHECK(table.cells({"Task ID", "Op Name", "Task Type", "Task Start Time(us)", "Block Num"}) ==
        Lines{"1|matmul|AI_CORE|" + moment(10'000) + "|32",
              "2|topk|AI_CPU|" + moment(20'200) + "|1"});
  CHECK(std::stod(table.cell(0, "Task Duration(us)")) == 10);
  CHECK(std::stod(table.cell(1, "Task Wait Time(us)")) == 0.2);
  // 64000 cycles / 1000 MHz / 32 blocks = 2 us; 4000 / 64000 = 0.0625 is rounded away from 0.
  CHECK(table.cells(kPmuCells) ==
        Lines{"2.0|64000|0.5|0.25|1.0|0.5|0.1|0.0|0.25|0.125|0.125|0.063|0.1",
              "N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A"});
  CHECK(std::stod(table.cell(0, "memory_bound")) == 0.25);       // 0.125 / max(0.25, 0.5)
  CHECK(std::stod(table.cell(0, "cube_utilization(%)")) == 20);  // 64000 / 32000 / 10 us
  for (const std::string& name : table.header) {
    CHECK(name != "Context ID");
    CHECK(name != "Mix Block Num");
    CHECK(name != "aiv_time(us)");
  }
  CHECK(run.table("task_time").cells({"kernel_type", "task_id"}) ==
        Lines{"AI_CORE|1", "AI_CPU|2", "MEMCPY_ASYNC|3"});
}

TEST_CASE("on a 910A, an AI CPU task that only ts_track records is a task, too") {
  ProfCapture run(setup_910a());
  const auto& setup = run.prof.setup();
  const OpKind op = {"topk", "TopKV2", Core::aicpu, 1};
  run.scene.launch({"add", "Add", Core::aic, 32}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 20'000));
  run.scene.call(kNode, kLaunch, {kThread, 3000, 4000}, run.prof.hash("topk"));
  run.prof.host(NodeBasic{kThread, setup.host_at(3900), run.prof.hash("topk"), 1,
                          run.prof.hash("TopKV2"), 1, 0, 0});
  run.scene.track(kThread, 3500, kKernelAicpu, device_task(2, 0, 0), 0, &op);
  run.prof.device(0, TsTaskType{setup.ticks_at(21'000), 3, 2, 1, 0});
  run.prof.device(0, TsTaskType{setup.ticks_at(22'000), 3, 2, 1, 1});
  run.prof.device(0, TsTaskType{setup.ticks_at(25'000), 3, 2, 1, 2});
  run.products();
  const CsvTable table = run.table("op_summary");
  CHECK(table.cells({"Task ID", "Op Name", "Task Type", "Task Start Time(us)"}) ==
        Lines{"1|add|AI_CORE|" + moment(10'000), "2|topk|AI_CPU|" + moment(22'000)});
  CHECK(std::stod(table.cell(1, "Task Duration(us)")) == 3);
}

TEST_CASE("on a 310P, counters of vector cores and AI cores are exported") {
  ProfCapture run(setup_310p());
  run.scene.launch({"matmul", "MatMulV2", Core::aic, 8}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 20'000), {.pmu = TaskPmu{16'000, {4000, 8000}}});
  run.scene.launch({"add", "Add", Core::aiv, 7}, {kThread, 3000, 4000},
                   device_task(2, 20'200, 21'200),
                   {.pmu = TaskPmu{14'000, {7000, 0, 1400, 0, 0, 0, 100, 10}}});
  run.products();
  // 16000 / 8 blocks and 14000 / 7 blocks at 1000 MHz.
  CHECK(run.table("op_summary")
            .cells({"Op Name", "Task Type", "aicore_time(us)", "total_cycles", "vec_ratio",
                    "vec_time(us)", "mac_ratio", "icache_miss_rate"}) ==
        Lines{"matmul|AI_CORE|2.0|16000|0.25|0.5|0.5|0.0",
              "add|AI_VECTOR_CORE|2.0|14000|0.5|1.0|0.0|0.1"});
}

TEST_CASE("a task with a repeated id has its own counters, in order") {
  ProfCapture run(setup_910a());
  for (std::uint64_t i = 0; i < 3; ++i) {
    if (i > 0)
      run.scene.flip(kThread, 2400 + 3000 * (i - 1), 11'500 + 2000 * (i - 1), 0, 3,
                     static_cast<std::uint16_t>(i));
    run.scene.launch({"op_" + std::to_string(i), "MatMulV2", Core::aic, 32},
                     {kThread, 1000 + 3000 * i, 2000 + 3000 * i},
                     device_task(7, 10'000 + 2000 * i, 11'000 + 2000 * i),
                     {.pmu = TaskPmu{1000 * (i + 1), kCounters}});
  }
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "total_cycles"}) ==
        Lines{"op_0|1000", "op_1|2000", "op_2|3000"});
}
