// op_summary, task_time and op_statistic of small runs on a 910B. Every expected cell is calculated
// by cann_device.md 12, 14, 16, 17, 19: the clocks have round rates, the AI cores run at 1000 MHz,
// and there are 20 cube cores and 40 vector cores.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

// Counters of PipeUtilizationExct: 0x416, 0x417, 0x9, 0x302, 0xc, 0x303, 0x54, 0x55.
constexpr Counters kCubeCounters = {20000, 5000, 10000, 30000, 40000, 50000, 1000, 250};
// Counters of PipeUtilization: 0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55.
constexpr Counters kVectorCounters = {10000, 0, 4000, 0, 8000, 12000, 500, 50};

OpKind vector_op() {
  return {"add_1", "Add", Core::aiv,
          20,      0,     {{0, 2, 0, {8, 1}}, {0, 3u << 8 | 29, 1, {16, 4, 4}}, {1, 2, 27, {8}}},
          "",      true};
}
OpKind cube_op() {
  return {"matmul_1", "MatMulV2", Core::aic, 20};
}

// A vector operator, a cube operator, an operator of the AI CPU, a copy and an event.
struct SmallRun : ProfCapture {
  SmallRun() {
    scene.launch(vector_op(), {kThread, 10'000, 12'000}, device_task(1, 20'000, 25'000),
                 {.pmu = TaskPmu{40'000, kVectorCounters}});
    scene.launch(cube_op(), {kThread, 12'500, 14'000}, device_task(2, 25'200, 35'200),
                 {.pmu = TaskPmu{100'000, kCubeCounters}});
    scene.launch({"topk_1", "TopKV2", Core::aicpu, 1}, {kThread, 15'000, 16'000},
                 device_task(3, 35'300, 37'300));
    scene.copy({kThread, 17'000, 18'000}, device_task(4, 37'400, 38'400), 4096, 1);
    scene.record_event({kThread, 19'000, 20'000}, device_task(5, 38'500, 38'520));
    products();
  }
};

}  // namespace

TEST_CASE("op_summary joins each device task with the operator that was launched") {
  const SmallRun run;
  const CsvTable table = run.table("op_summary");
  CHECK(table.cells({"Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type",
                     "OP State", "Task Type", "Task Start Time(us)", "Task Duration(us)"}) ==
        Lines{"0|4294967295|1|3|add_1|Add|dynamic|AI_VECTOR_CORE|1700000000000020.000|5.000",
              "0|4294967295|2|3|matmul_1|MatMulV2|dynamic|AI_CORE|1700000000000025.200|10.000",
              "0|4294967295|3|3|topk_1|TopKV2|dynamic|AI_CPU|1700000000000035.300|2.000"});
  // Waits: 25.2 - 20 - 5 and 35.3 - 25.2 - 10.
  CHECK(table.cells(
            {"Task Wait Time(us)", "Block Num", "Mix Block Num", "HF32 Eligible", "Context ID"}) ==
        Lines{"0|20|0|YES|N/A", "0.200000|20|0|NO|N/A", "0.100000|1|0|NO|N/A"});
}

TEST_CASE("shapes, types and formats are those of the operator's tensors") {
  const SmallRun run;
  const CsvTable table = run.table("op_summary");
  CHECK(table.cell(0, "Input Shapes") == "\"8,1;16,4,4\"");
  CHECK(table.cell(0, "Input Data Types") == "FLOAT;FLOAT16");
  CHECK(table.cell(0, "Input Formats") == "ND;FRACTAL_NZ:3");
  CHECK(table.cell(0, "Output Shapes") == "\"8\"");
  CHECK(table.cell(0, "Output Data Types") == "DT_BF16");
  CHECK(table.cell(0, "Output Formats") == "ND");
  CHECK(table.cell(1, "Input Shapes") == "N/A");
  CHECK(table.cell(1, "Output Formats") == "N/A");
}

TEST_CASE("task counters give times and ratios for its kind of core and 0 for the other") {
  const SmallRun run;
  const CsvTable table = run.table("op_summary");
  // 100000 cycles / 1000 MHz / 20 blocks, one round of 20 cores: 5 us.
  CHECK(table.cells({"aicore_time(us)", "aic_total_cycles", "aic_mac_time(us)", "aic_mac_ratio",
                     "aic_scalar_time(us)", "aic_scalar_ratio", "aic_mte1_time(us)",
                     "aic_mte1_ratio", "aic_mte2_time(us)", "aic_mte2_ratio",
                     "aic_fixpipe_time(us)", "aic_fixpipe_ratio", "aic_icache_miss_rate"}) ==
        Lines{"0.0|0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0",
              "5.0|100000|1.25|0.25|0.5|0.1|1.5|0.3|2.0|0.4|2.5|0.5|0.25",
              "N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A"});
  // 40000 cycles / 1000 MHz / 20 blocks, one round of 40 cores: 2 us.
  CHECK(
      table.cells({"aiv_time(us)", "aiv_total_cycles", "aiv_vec_time(us)", "aiv_vec_ratio",
                   "aiv_scalar_time(us)", "aiv_scalar_ratio", "aiv_mte2_time(us)", "aiv_mte2_ratio",
                   "aiv_mte3_time(us)", "aiv_mte3_ratio", "aiv_icache_miss_rate"}) ==
      Lines{"2.0|40000|0.5|0.25|0.2|0.1|0.4|0.2|0.6|0.3|0.1",
            "0.0|0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0|0.0",
            "N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A"});
  // 100000 / (1000 * 20) * 100 / 10 us.
  CHECK(table.column_cells("cube_utilization(%)") == Lines{"0.000", "50.000", "N/A"});
  CHECK(table.header.back() == "cube_utilization(%)");
}

TEST_CASE("a frequency change applies from its tick on, but not to cube_utilization") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  run.prof.device(0, LpmFreq{{{setup.ticks_at(0) - 1, 1000},
                              {setup.ticks_at(30'000), 500},
                              {setup.ticks_at(35'200), 2000},
                              {setup.ticks_at(35'220), 800}}});
  const TaskPmu pmu{100'000, kCubeCounters};
  run.scene.launch(cube_op(), {kThread, 10'000, 11'000}, device_task(1, 12'000, 22'000),
                   {.pmu = pmu});
  run.scene.launch(cube_op(), {kThread, 11'500, 12'500}, device_task(2, 25'200, 35'200),
                   {.pmu = pmu});
  run.scene.launch(cube_op(), {kThread, 13'000, 14'000}, device_task(3, 36'000, 46'000),
                   {.pmu = pmu});
  run.products();
  // The sample valid at the end of the record is used: 1000, 2000 and 800 MHz.
  const CsvTable table = run.table("op_summary");
  CHECK(table.cells({"aicore_time(us)", "aic_mac_time(us)", "cube_utilization(%)"}) ==
        Lines{"5.0|1.25|50.000", "2.5|0.625|50.000", "6.25|1.563|50.000"});
}

TEST_CASE("a MIX operator has the time of its FFTS+ thread, and its other cores from blocks") {
  ProfCapture run;
  // The cube core leads: 4 cube blocks with 2 vector blocks each.
  TaskPmu pmu{20'000, {4000, 1000, 2000, 6000, 8000, 10'000, 1000, 250}};
  for (int block = 0; block < 8; ++block) {
    pmu.blocks.emplace_back(1000, Counters{100, 0, 50, 0, 200, 300, 80, 20});
  }
  const OpKind op = {"attention_1", "FlashAttentionScore", Core::mix_aic, 4, 2};
  run.scene.launch(op, {kThread, 10'000, 11'000}, device_task(7, 20'000, 30'000), {.pmu = pmu});
  run.products();
  const CsvTable table = run.table("op_summary");
  // The thread starts 100 ns later and ends 100 ns earlier than the task.
  CHECK(table.cells({"Task ID", "Task Type", "Task Start Time(us)", "Task Duration(us)",
                     "Block Num", "Mix Block Num", "Context ID"}) ==
        Lines{"7|MIX_AIC|1700000000000020.100|9.800|4|8|0"});
  // 20000 / 1000 MHz / 4 blocks = 5 us; 8 * 1000 / 1000 MHz / 8 blocks = 1 us.
  CHECK(table.cells({"aicore_time(us)", "aic_total_cycles", "aic_mac_time(us)", "aic_mac_ratio",
                     "aiv_time(us)", "aiv_total_cycles", "aiv_vec_time(us)", "aiv_vec_ratio",
                     "aiv_mte3_ratio", "aiv_icache_miss_rate"}) ==
        Lines{"5.0|20000|1.25|0.25|1.0|8000|0.1|0.1|0.3|0.25"});
  // One row: the outer task has no separate row.
  CHECK(run.table("task_time").cells({"kernel_name", "kernel_type", "task_id", "task_time(us)"}) ==
        Lines{"attention_1_kernel|MIX_AIC|7|9.800"});
}

TEST_CASE("task_time has every task with the kernel's name, and the type of the operator or task") {
  const SmallRun run;
  CHECK(run.table("task_time").cells() ==
        Lines{"0|add_1_kernel|AI_VECTOR_CORE|3|1|5.000|" + moment(20'000) + "|" + moment(25'000),
              "0|matmul_1_kernel|AI_CORE|3|2|10.000|" + moment(25'200) + "|" + moment(35'200),
              "0|topk_1_kernel|AI_CPU|3|3|2.000|" + moment(35'300) + "|" + moment(37'300),
              "0|N/A|MEMCPY_ASYNC|3|4|1.000|" + moment(37'400) + "|" + moment(38'400),
              "0|N/A|EVENT_RECORD|3|5|0.020|" + moment(38'500) + "|" + moment(38'520)});
}

TEST_CASE("op_statistic sums by operator type and core, longest first") {
  ProfCapture run;
  const OpKind add = {"add_1", "Add", Core::aiv}, other = {"add_2", "Add", Core::aiv};
  const OpKind matmul = {"matmul_1", "MatMulV2", Core::aic};
  run.scene.launch(add, {kThread, 1000, 2000}, device_task(1, 10'000, 12'000));
  run.scene.launch(other, {kThread, 2500, 3500}, device_task(2, 13'000, 14'020));
  run.scene.launch(add, {kThread, 4000, 5000}, device_task(3, 15'000, 15'980));
  run.scene.launch(matmul, {kThread, 6000, 7000}, device_task(4, 16'000, 22'000));
  run.products();
  // 4000 / 3 = 1333.3 ns is truncated to 1333.
  CHECK(run.table("op_statistic").cells() ==
        Lines{"0|MatMulV2|AI_CORE|1|6|6|6|6|60", "0|Add|AI_VECTOR_CORE|3|4|0.98|1.333|2|40"});
}

TEST_CASE("the last node record of a launch is used, and a launch in a model is static") {
  ProfCapture run;
  run.scene.call(kModel, kModelExecute, {kThread, 1000, 9000}, 7, 1);
  run.scene.launch({"static_op", "Add", Core::aiv}, {kThread, 2000, 3000},
                   device_task(1, 10'000, 11'000), {.in_model = true});
  run.scene.launch({"first", "Add", Core::aiv}, {kThread, 10'000, 12'000},
                   device_task(2, 13'000, 14'000));
  const auto& setup = run.prof.setup();
  run.prof.host(NodeBasic{kThread, setup.host_at(11'860), run.prof.hash("second"), 0,
                          run.prof.hash("Mul"), 3, 0, 0});
  run.products();
  CHECK(
      run.table("op_summary").cells({"Model ID", "Op Name", "OP Type", "OP State", "Task Type"}) ==
      Lines{"7|static_op|Add|static|AI_VECTOR_CORE", "4294967295|second|Mul|dynamic|AI_CORE"});
}

TEST_CASE("at level 0 an operator has its name and blocks, without counters") {
  ProfSetup setup;
  setup.level = "l0";
  ProfCapture run(setup);
  run.scene.launch(vector_op(), {kThread, 10'000, 12'000}, device_task(1, 20'000, 25'000));
  run.products();
  CHECK(run.table("op_summary")
            .cells({"Op Name", "OP Type", "OP State", "HF32 Eligible", "Input Shapes", "Block Num",
                    "Task Duration(us)"}) == Lines{"add_1|N/A|N/A|N/A|N/A|20|5.000"});
  CHECK(products_named(run.prof.products(), "op_statistic").empty());
}

TEST_CASE("tasks that ended before the collection are omitted, those across its start are kept") {
  ProfSetup setup;
  setup.begin_us += 30;  // same clocks, but the collection starts 30 us later
  setup.raw_ns += 30'000;
  ProfCapture run(setup);
  run.scene.launch(vector_op(), {kThread, 1000, 2000}, device_task(1, 10'000, 29'980));
  run.scene.launch(cube_op(), {kThread, 3000, 4000}, device_task(2, 29'980, 30'020));
  run.products();
  CHECK(run.table("task_time").column_cells("task_id") == Lines{"2"});
  CHECK(run.table("op_summary").cells({"Op Name", "Task Start Time(us)"}) ==
        Lines{"matmul_1|" + moment(29'980)});
}
