// Task id wraparound, streams that share numbers, and tasks without a partner.
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

OpKind op(const std::string& name) {
  return {name, "Add", Core::aiv};
}

const std::vector<std::string> kNamed = {"Task ID", "Op Name", "Task Start Time(us)"};

}  // namespace

TEST_CASE("a task id that is used again after a flip belongs to the later operator") {
  ProfCapture run;
  run.scene.launch(op("first"), {kThread, 1000, 2000}, device_task(0, 10'000, 11'000));
  run.scene.launch(op("second"), {kThread, 3000, 4000}, device_task(1, 12'000, 13'000));
  run.scene.flip(kThread, 5000, 13'500, 0, 3, 1);
  run.scene.launch(op("third"), {kThread, 6000, 7000}, device_task(0, 14'000, 15'000));
  run.scene.launch(op("fourth"), {kThread, 8000, 9000}, device_task(1, 16'000, 17'000));
  run.scene.flip(kThread, 9500, 17'500, 0, 3, 2);
  run.scene.launch(op("fifth"), {kThread, 10'000, 11'000}, device_task(0, 18'000, 19'000));
  run.products();
  CHECK(run.table("op_summary").cells(kNamed) ==
        Lines{"0|first|" + moment(10'000), "1|second|" + moment(12'000),
              "0|third|" + moment(14'000), "1|fourth|" + moment(16'000),
              "0|fifth|" + moment(18'000)});
}

TEST_CASE("a flip affects only its stream and device") {
  ProfSetup setup;
  setup.devices = {0, 1};
  ProfCapture run(setup);
  std::uint64_t at = 10'000;
  const auto launch = [&](const std::string& name, DeviceSpan span) {
    span.start = at;
    span.end = at + 1000;
    run.scene.launch(op(name), {kThread, at - 5000, at - 4000}, span);
    at += 2000;
  };
  launch("a", {3, 0, 0, 0, 0});
  launch("b", {4, 0, 0, 0, 0});
  launch("c", {3, 0, 0, 0, 1});
  run.scene.flip(kThread, at - 5500, at - 500, 0, 3, 1);
  launch("d", {3, 0, 0, 0, 0});
  launch("e", {4, 1, 0, 0, 0});
  launch("f", {3, 1, 0, 0, 1});
  run.products();
  CHECK(run.table("op_summary").cells({"Device_id", "Stream ID", "Task ID", "Op Name"}) ==
        Lines{"0|3|0|a", "0|4|0|b", "0|3|0|d", "0|4|1|e", "1|3|0|c", "1|3|1|f"});
}

TEST_CASE("the waiting time is measured separately on each device") {
  ProfSetup setup;
  setup.devices = {0, 1};
  ProfCapture run(setup);
  run.scene.launch(op("a"), {kThread, 1000, 2000}, {3, 0, 10'000, 11'000, 0});
  run.scene.launch(op("b"), {kThread, 3000, 4000}, {3, 1, 12'000, 13'000, 0});
  run.scene.launch(op("c"), {kThread, 5000, 6000}, {3, 0, 13'500, 14'500, 1});
  run.scene.launch(op("d"), {kThread, 7000, 8000}, {3, 1, 14'400, 15'000, 1});
  run.scene.launch(op("e"), {kThread, 9000, 9900}, {3, 2, 18'000, 19'000, 1});
  run.products();
  CHECK(run.table("op_summary").cells({"Device_id", "Op Name", "Task Wait Time(us)"}) ==
        Lines{"0|a|0", "0|b|1.000000", "1|c|0.000000", "1|d|0.000000", "1|e|3.000000"});
}

TEST_CASE("a device task without host record has the type of the device") {
  ProfCapture run;
  run.scene.device_task(kKernelAivec, device_task(1, 10'000, 11'000));
  run.scene.launch(op("known"), {kThread, 1000, 2000}, device_task(2, 12'000, 13'000));
  run.products();
  CHECK(run.table("task_time").cells({"kernel_name", "kernel_type", "task_id"}) ==
        Lines{"N/A|AIV_SQE|1", "known_kernel|AI_VECTOR_CORE|2"});
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"known"});
}

TEST_CASE("a task that never ran on the device is not exported") {
  ProfCapture run;
  run.scene.launch(op("ran"), {kThread, 1000, 2000}, device_task(2, 12'000, 13'000));
  run.scene.call(kNode, kLaunch, {kThread, 3000, 4000}, run.prof.hash("lost"));
  const OpKind lost = op("lost");
  run.scene.track(kThread, 3500, kKernelAivec, device_task(3, 0, 0), 0, &lost);
  run.products();
  CHECK(run.table("task_time").column_cells("task_id") == Lines{"2"});
  CHECK(run.table("op_summary").column_cells("Op Name") == Lines{"ran"});
}

TEST_CASE("a start whose end is lost does not affect the tasks around it") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  run.scene.launch(op("a"), {kThread, 1000, 2000}, device_task(1, 10'000, 11'000));
  run.prof.device(0, AcsqLog{false, 2, 2, 3, 2, setup.ticks_at(12'000)});
  run.scene.launch(op("c"), {kThread, 5000, 6000}, device_task(3, 14'000, 15'000));
  run.prof.device(0, AcsqLog{true, 2, 5, 3, 4, setup.ticks_at(16'000)});
  run.products({0, 3});
  CHECK(run.table("task_time").cells({"task_id", "task_start(us)", "task_stop(us)"}) ==
        Lines{"1|" + moment(10'000) + "|" + moment(11'000),
              "3|" + moment(14'000) + "|" + moment(15'000)});
}

TEST_CASE("stream and task ids beyond the plain range are decoded as packed by STARS") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  std::uint8_t count = 0;
  // Bit 12 of the stream is set: the upper 3 bits of the task id come from the stream field.
  const auto log = [&](std::uint16_t stream, std::uint16_t task, std::uint64_t ns) {
    run.prof.device(0, AcsqLog{false, 2, count++, stream, task, setup.ticks_at(ns)});
    run.prof.device(0, AcsqLog{true, 2, count++, stream, task, setup.ticks_at(ns + 1000)});
  };
  log(0x1000 | 0xA000 | 9, 0x0123, 10'000);  // stream 9, task 0xA123
  // Bit 13 is set: the stream is in the task field, the low 12 bits of the task id in the stream
  // field.
  log(0x2000 | 0x0ABC, 0x5000 | 17, 12'000);  // stream 17, task 0x5ABC
  run.products();
  CHECK(run.table("task_time").cells({"stream_id", "task_id"}) ==
        Lines{"9|" + std::to_string(0xA123), "17|" + std::to_string(0x5ABC)});
}

TEST_CASE("blocks known only at launch replace those of the host") {
  ProfCapture run;
  const auto& setup = run.prof.setup();
  run.scene.launch({"tiled", "MatMulV2", Core::aic, 20}, {kThread, 1000, 2000},
                   device_task(1, 10'000, 20'000),
                   {.pmu = TaskPmu{50'000, {20'000, 5000, 0, 0, 0, 0, 0, 0}}});
  run.prof.device(0, TsBlocks{setup.ticks_at(9000), 3, 1, 10, 0});
  run.products();
  // 50000 cycles / 1000 MHz / 10 blocks.
  CHECK(run.table("op_summary").cells({"Block Num", "aicore_time(us)", "aic_mac_ratio"}) ==
        Lines{"10|5.0|0.5"});
}
