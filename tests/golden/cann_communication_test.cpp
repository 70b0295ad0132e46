// Communication operators: names, extent, rows.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

// Collectives of one group; the last three digits of the group's hash are part of operator names.
struct CommRun : ProfCapture {
  explicit CommRun(const ProfSetup& setup = {}) : ProfCapture(setup) {
    prof.set_hash(kGroupHash, "group_a");
  }
  // Steps from `start`, each of 1000 ns, 200 ns apart, on stream 9.
  Collective collective(const std::string& name, std::uint64_t start, std::size_t steps,
                        bool is_master = true) {
    Collective op;
    op.name = name;
    op.group = "group_a";
    for (std::size_t i = 0; i < steps; ++i, start += 1200) {
      op.steps.push_back({i % 2 == 0 ? "Memcpy" : "Notify_Wait",
                          i % 2 == 0 ? kMemcpyAsync : kNotifyWait,
                          {9, next_task_++, start, start + 1000, 0},
                          i % 2 == 0 ? 4096u : 0u,
                          0,
                          is_master});
    }
    return op;
  }

 private:
  std::uint16_t next_task_ = 0;
};

const std::vector<std::string> kCells = {
    "Task ID",           "Stream ID",          "Op Name",
    "OP Type",           "Task Type",          "Task Start Time(us)",
    "Task Duration(us)", "Task Wait Time(us)", "Block Num"};

}  // namespace

TEST_CASE("a collective is one row, named by its group with its number in it") {
  CommRun run;
  run.scene.collective(run.collective("hcom_a", 10'000, 4), kThread, 1000);
  run.scene.collective(run.collective("hcom_b", 20'000, 2), kThread, 5000);
  run.products();
  CHECK(
      run.table("op_summary").cells(kCells) ==
      Lines{"N/A|N/A|hcom_a_026_0_1|hcom_allReduce_|COMMUNICATION|" + moment(10'000) + "|4.600|0|0",
            "N/A|N/A|hcom_b_026_1_1|hcom_allReduce_|COMMUNICATION|" + moment(20'000) +
                "|2.200|5.400000|0"});
  // Its tasks are listed like other tasks.
  CHECK(run.table("task_time").column_cells("kernel_type") == Lines{"MEMCPY_ASYNC", "NOTIFY_WAIT",
                                                                    "MEMCPY_ASYNC", "NOTIFY_WAIT",
                                                                    "MEMCPY_ASYNC", "NOTIFY_WAIT"});
}

TEST_CASE("communication_statistic sums by type, op_statistic has no collectives") {
  CommRun run;
  run.scene.collective(run.collective("hcom_a", 10'000, 4), kThread, 1000);
  run.scene.collective(run.collective("hcom_b", 20'000, 2), kThread, 5000);
  run.scene.launch({"add", "Add", Core::aiv}, {kThread, 9000, 9900},
                   device_task(1, 30'000, 31'000));
  run.products();
  CHECK(run.table("communication_statistic").cells() ==
        Lines{"0|hcom_allReduce_|2|6.8|2.2|3.4|4.6|100"});
  CHECK(run.table("op_statistic").column_cells("OP Type") == Lines{"Add"});
}

TEST_CASE("operators count as predecessors of collectives, and collectives of operators") {
  CommRun run;
  run.scene.launch({"add", "Add", Core::aiv}, {kThread, 100, 900}, device_task(1, 8000, 9000));
  run.scene.collective(run.collective("hcom_a", 10'000, 1), kThread, 1000);
  run.scene.launch({"mul", "Mul", Core::aiv}, {kThread, 5000, 6000},
                   device_task(2, 11'300, 12'000));
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "Task Wait Time(us)"}) ==
        Lines{"add|0", "hcom_a_026_0_1|1.000000", "mul|0.300000"});
}

TEST_CASE(
    "the time of a collective follows from its master tasks; without any there is no collective") {
  CommRun run;
  Collective mixed = run.collective("hcom_mixed", 10'000, 3);
  mixed.steps[0].is_master = mixed.steps[2].is_master = false;
  run.scene.collective(mixed, kThread, 1000);
  run.scene.collective(run.collective("hcom_slaves", 20'000, 2, false), kThread, 5000);
  run.products();
  CHECK(run.table("op_summary").cells({"Op Name", "Task Start Time(us)", "Task Duration(us)"}) ==
        Lines{"hcom_mixed_026_0_1|" + moment(11'200) + "|1.000"});
  CHECK(run.table("task_time").rows.size() == 5);
}

TEST_CASE("collectives are numbered separately by device and group") {
  ProfSetup setup;
  setup.devices = {0, 1};
  CommRun run(setup);
  run.prof.set_hash(999'000'000'000'000'417, "group_b");
  const auto play = [&](const std::string& name, const std::string& group, int device,
                        std::uint64_t start, std::uint64_t begin) {
    Collective op = run.collective(name, start, 1);
    op.group = group;
    op.steps[0].device.device = device;
    run.scene.collective(op, kThread, begin);
  };
  play("first", "group_a", 0, 10'000, 1000);
  play("second", "group_b", 0, 12'000, 3000);
  play("third", "group_a", 1, 14'000, 5000);
  play("fourth", "group_a", 0, 16'000, 7000);
  run.products();
  CHECK(run.table("op_summary").cells({"Device_id", "Op Name"}) ==
        Lines{"0|first_026_0_1", "0|second_417_0_1", "0|fourth_026_1_1", "1|third_026_0_1"});
  CHECK(run.table("communication_statistic").cells({"Device_id", "Count", "Ratio(%)"}) ==
        Lines{"0|3|100", "1|1|100"});
}
