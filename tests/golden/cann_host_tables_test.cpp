// Products made from host records and from ts_track: api_statistic, fusion_op, msprof_tx,
// operator_memory, memory_record, aicpu, step_trace.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {}  // namespace

TEST_CASE("api_statistic has a row for each call and level, by name") {
  ProfCapture run;
  run.scene.call(kAcl, kAclMalloc, {kThread, 1000, 3000});
  run.scene.call(kAcl, kAclMalloc, {kThread, 4000, 5000});
  run.scene.call(kNode, kLaunch, {kThread, 6000, 6250}, run.prof.hash("op"));
  run.scene.call(kHccl, kMaster, {kThread, 7000, 7100}, run.prof.hash("Memcpy"));
  run.scene.call(kRuntime, kRtLaunch, {101, 8000, 8010});
  run.scene.call(kModel, kModelExecute, {kThread, 9000, 9990}, 1, 1);
  run.products();
  CHECK(run.table("api_statistic").cells() ==
        Lines{"host|runtime|LaunchKernelWithHandle|0.01|1|0.01|0.01|0.01|0",
              "host|communication|Memcpy|0.1|1|0.1|0.1|0.1|0",
              "host|model|ModelExecute|0.99|1|0.99|0.99|0.99|0",
              "host|acl|aclrtMalloc|3|2|1.5|1|2|0.25", "host|node|launch|0.25|1|0.25|0.25|0.25|0"});
}

TEST_CASE("two halves of an event are one call, and a single half is ignored") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  const auto half = [&](std::uint64_t ns, std::uint32_t request) {
    run.prof.host(Api{kModel, kModelLoad, kThread, setup.host_at(ns), kEventEnd, 3, request});
  };
  half(1000, 1);
  half(2000, 2);
  half(3500, 1);
  run.products();
  CHECK(run.table("api_statistic").cells({"API Name", "Count", "Time(us)"}) ==
        Lines{"ModelLoad|1|2.5"});
}

TEST_CASE("calls before the collection count only while a model is loaded") {
  ProfSetup setup;
  setup.begin_us += 10;
  setup.raw_ns += 10'000;
  ProfCapture run(setup);
  run.scene.call(kAcl, kAclMalloc, {kThread, 1000, 2000});
  run.scene.call(kModel, kModelLoad, {kThread, 3000, 9000}, 1);
  run.scene.call(kAcl, kAclMalloc, {kThread, 4000, 5000});
  run.scene.call(kAcl, kAclMalloc, {101, 4000, 6000});
  run.scene.call(kAcl, kAclMalloc, {kThread, 9500, 12'000});
  run.products();
  CHECK(run.table("api_statistic").cells({"API Name", "Count", "Time(us)"}) ==
        Lines{"ModelLoad|1|6", "aclrtMalloc|2|3.5"});
}

TEST_CASE("fusion_op lists the fused operators of each model") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  run.scene.call(kModel, kModelLoad, {kThread, 1000, 9000}, 5);
  run.prof.host(GraphIdMap{kThread, setup.host_at(1500), run.prof.hash("net_a"), 2, 5});
  FusionOp op{kThread, setup.host_at(2000), run.prof.hash("fused_1"), 2048, 1024, 512, 100, 3684,
              {}};
  op.fused = {run.prof.hash("conv"), run.prof.hash("relu")};
  run.prof.host(op);
  run.products();
  CHECK(run.table("fusion_op").cells() ==
        Lines{"host|net_a|5|fused_1|conv;relu|2.0|1.0|0.5|0.09765625|3.59765625"});
}

TEST_CASE("msprof_tx has the marks of the host in the order of their starts") {
  ProfCapture run;
  run.scene.mark(77, 30'000, 31'500, "second", 1);
  run.scene.mark(kThread, 10'000, 20'000, "first, with a comma");
  run.scene.mark(kThread, 40'000, 40'000, "a moment", 0);
  run.products();
  const CsvTable table = run.table("msprof_tx");
  CHECK(table.cells({"Device_id", "pid", "tid", "category", "event_type", "payload_type",
                     "payload_value", "Start_time(us)", "End_time(us)", "message_type", "message",
                     "domain", "Device Start_time(us)", "Device End_time(us)"}) ==
        Lines{"host|4321|100|0|start/end|0|0|" + moment(10'000) + "|" + moment(20'000) +
                  "|0|first, with a comma|N/A|N/A|N/A",
              "host|4321|77|0|push/pop|0|0|" + moment(30'000) + "|" + moment(31'500) +
                  "|0|second|N/A|N/A|N/A",
              "host|4321|100|0|marker|0|0|" + moment(40'000) + "|" + moment(40'000) +
                  "|0|a moment|N/A|N/A|N/A"});
}

TEST_CASE("marks with a number have device times and a message joined from its segments") {
  ProfSetup setup;
  setup.cann = GENERATE("8.5.0", "9.1.0");
  INFO(setup.cann);
  ProfCapture run(setup);
  TxMark mark;
  mark.is_ex = true;
  mark.thread = 77;
  mark.event = 3;
  mark.domain = run.prof.hash("domain_a");
  mark.mark = 5;
  mark.begin = setup.host_at(10'000);
  mark.end = setup.host_at(12'000);
  mark.segment = 1;
  mark.message = "World";
  run.prof.host(mark);
  mark.segment = 0;
  mark.message = "Hello";
  run.prof.host(mark);
  mark.mark = 6;
  mark.message = "alone";
  mark.begin = mark.end = setup.host_at(13'000);
  run.prof.host(mark);
  run.scene.step(0, 15'000, 12, 5, 4294967295, 3);
  run.scene.step(0, 16'000, 12, 5, 4294967295, 3);
  run.products();
  const CsvTable table = run.table("msprof_tx");
  CHECK(table.cells({"Device_id", "tid", "category", "event_type", "Start_time(us)", "message",
                     "domain", "Device Start_time(us)", "Device End_time(us)"}) ==
        Lines{"0|77|N/A|marker_ex|" + moment(10'000) + "|HelloWorld|domain_a|" + moment(15'000) +
                  "|" + moment(16'000),
              "host|77|N/A|marker_ex|" + moment(13'000) + "|alone|domain_a|N/A|N/A"});
  CHECK(products_named(run.prof.products(), "step_trace").empty());
}

TEST_CASE("times of marks are printed in microseconds as doubles, as in the vendor's tool") {
  ProfSetup setup;
  setup.begin_us = 1'700'902'984'041'176;
  setup.begin_date = "2023-11-25 09:03:04.041176";
  setup.raw_ns = setup.monotonic_ns = 36'471'130'547'330;
  setup.host_count = 3'666'503'140'109;
  ProfCapture run(setup);
  run.scene.mark(kThread, 1000, 1000, "here");
  run.scene.call(kAcl, kAclMalloc, {kThread, 1000, 2000});
  run.products();
  CHECK(run.table("msprof_tx").column_cells("Start_time(us)") == Lines{"1700902984041177.130"});
}

TEST_CASE("freed memory has its lifetime, and memory that is not freed stays open") {
  ProfCapture run;
  run.scene.memory(kThread, 1000, "conv", 0x1000, 1 << 20, 1 << 20);
  run.scene.memory(kThread, 2000, "relu", 0x2000, 1536, (1 << 20) + 1536);
  run.scene.memory(kThread, 2040, "conv", 0x1000, -(1 << 20), 1536);
  run.scene.memory(kThread, 3000, "free of nothing", 0x9000, -512, 1536);
  run.products();
  const CsvTable blocks = run.table("operator_memory");
  REQUIRE(blocks.rows.size() == 2);
  CHECK(
      blocks.cells({"Device_id", "Name", "Size(KB)", "Allocation Time(us)",
                    "Allocation Total Allocated(KB)", "Allocation Total Reserved(KB)", "Device"}) ==
      Lines{"0|conv|1024.0|" + moment(1000) + "|1024.0|8388608.0|NPU:0",
            "0|relu|1.5|" + moment(2000) + "|1025.5|8388608.0|NPU:0"});
  CHECK(blocks.cell(0, "Duration(us)") == "1.04");
  CHECK(blocks.cell(0, "Release Total Allocated(KB)") == "1.5");
  CHECK(std::stod(blocks.cell(1, "Duration(us)")) == 0);
  CHECK(std::stod(blocks.cell(1, "Release Total Reserved(KB)")) == 0);

  CHECK(run.table("memory_record").cells() ==
        Lines{"0|GE|" + moment(1000) + "|1024.0|8388608.0|NPU:0",
              "0|GE|" + moment(2000) + "|1025.5|8388608.0|NPU:0",
              "0|GE|" + moment(2040) + "|1.5|8388608.0|NPU:0",
              "0|GE|" + moment(3000) + "|1.5|8388608.0|NPU:0"});
}

TEST_CASE("memory is listed once, with its device") {
  ProfSetup setup;
  setup.devices = {0, 1};
  ProfCapture run(setup);
  run.scene.memory(kThread, 1000, "conv", 0x1000, 1024, 1024, 1);
  run.products();
  CHECK(run.table("memory_record").cells({"Device_id", "Device"}) == Lines{"1|NPU:1"});
}

TEST_CASE("aicpu has the AI CPU times of an operator, in microseconds") {
  ProfCapture run;
  run.scene.launch({"topk_1", "TopKV2", Core::aicpu, 1}, {kThread, 1000, 2000},
                   device_task(3, 35'300, 37'300));
  run.products();
  CHECK(run.table("aicpu").cells() ==
        Lines{"0|" + moment(35'500) + "|topk_1|300.0|50.0|1.6|15.0|2.0|3|3"});
}

TEST_CASE("step_trace has the times of each iteration with all its reduces") {
  ProfCapture run;
  const auto step = [&](std::uint64_t index, std::uint64_t ns, std::uint16_t tag) {
    run.scene.step(0, ns, tag, index, 1, 3);
  };
  step(1, 10'000, 0), step(1, 11'000, 2), step(1, 12'000, 10000), step(1, 13'000, 10001);
  step(1, 13'200, 10002), step(1, 13'500, 10003), step(1, 15'000, 3), step(1, 16'000, 4);
  step(1, 16'100, 1);
  step(2, 20'000, 0), step(2, 22'000, 2), step(2, 25'000, 3), step(2, 26'000, 4);
  step(2, 26'100, 1);
  run.products();
  // As in other tools, an iteration has an empty cell for each all-reduce that it lacks.
  CHECK(run.table("step_trace").cells() ==
        Lines{"0|1|" + moment(11'000) + "|" + moment(15'000) + "|" + moment(16'000) +
                  "|6.000|4.000|1.000|0.000|1|" + moment(12'000) + "|1.000|" + moment(13'200) +
                  "|0.300",
              "0|2|" + moment(22'000) + "|" + moment(25'000) + "|" + moment(26'000) +
                  "|6.000|3.000|1.000|6.000|1|N/A|N/A"});
}
