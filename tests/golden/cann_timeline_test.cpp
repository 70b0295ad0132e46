// Timelines of PROF folders: the events of each layer, calculated by hand.
// Sources: cann_host.md 2.5, cann_device.md 13, 20.2, 23.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "golden/timeline_file.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

const OpKind kAdd = {"add", "Add", Core::aiv};

// The args of a slice without its call id, which can be any number.
std::string args_but_id(const TimelineFile& timeline, const std::string& process,
                        const std::string& name) {
  Json args = timeline.slice(process, name).at("args");
  args.erase("connection_id");
  return args.dump();
}

Json call_id(const TimelineFile& timeline, const std::string& process, const std::string& name) {
  return timeline.slice(process, name).at("args").at("connection_id");
}

// Two steps on stream 9: a copy of 4096 bytes and a wait, 1000 ns each, 200 ns apart.
Collective two_steps(std::uint64_t start) {
  Collective op;
  op.name = "hcom_a";
  op.group = "group_a";
  op.steps = {{"Memcpy", kMemcpyAsync, {9, 0, start, start + 1000, 0}, 4096, 0, true},
              {"Notify_Wait", kNotifyWait, {9, 1, start + 1200, start + 2200, 0}, 0, 0, true}};
  return op;
}

}  // namespace

TEST_CASE("a launch is three calls on its thread and a task on its stream") {
  ProfCapture run;
  run.scene.launch(kAdd, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.processes() == Lines{"CANN|CPU|7|4424959", "Ascend Hardware|NPU 0|14|4425152",
                                      "AI Core Freq|NPU 0|15|4425184",
                                      "Overlap Analysis|NPU 0|31|4425696"});
  CHECK(timeline.threads("CANN") == Lines{"100|Thread 100|100"});
  CHECK(timeline.threads("Ascend Hardware") == Lines{"3|Stream 3|3"});
  CHECK(timeline.slices("CANN") ==
        Lines{"Thread 100|AscendCL@aclnnAdd|" + span(1000, "2.0"),
              "Thread 100|Node@launch|" + span(1100, "1.8"),
              "Thread 100|Runtime@LaunchKernelWithHandle|" + span(1200, "1.6")});
  CHECK(timeline.slices("Ascend Hardware") == Lines{"Stream 3|add|" + span(5000, "1.5")});
}

TEST_CASE("a call has its mode, level, id and item; a task its stream and ids") {
  ProfCapture run;
  run.scene.launch(kAdd, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(args_but_id(timeline, "CANN", "AscendCL@aclnnAdd") ==
        R"j({"Thread Id":100,"Mode":"ACL_NN","level":"acl","id":"aclnnAdd","item_id":"0"})j");
  CHECK(args_but_id(timeline, "CANN", "Node@launch") ==
        R"j({"Thread Id":100,"Mode":"launch","level":"node","id":"0","item_id":"add"})j");
  CHECK(args_but_id(timeline, "CANN", "Runtime@LaunchKernelWithHandle") ==
        R"j({"Thread Id":100,"Mode":"LaunchKernelWithHandle","level":"runtime","id":"0",)j"
        R"j("item_id":"0"})j");
  CHECK(args_but_id(timeline, "Ascend Hardware", "add") ==
        R"j({"Model Id":4294967295,"Task Type":"AI_VECTOR_CORE","Physic Stream Id":3,"Task Id":1,)j"
        R"j("Batch Id":0,"Subtask Id":4294967295})j");
  CHECK(call_id(timeline, "CANN", "Node@launch") == call_id(timeline, "Ascend Hardware", "add"));
}

TEST_CASE("an arrow leads from the node call to the task, and its id is that of the call << 32") {
  ProfCapture run;
  run.scene.launch(kAdd, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.arrows() ==
        Lines{"HostToDevice|Thread 100 " + moment(1100) + "|Stream 3 " + moment(5000)});
  const std::uint64_t call = call_id(timeline, "CANN", "Node@launch").get<std::uint64_t>();
  const std::string id = std::to_string(call << 32);
  for (const Json& event : timeline.events()) {
    if (event.at("ph") != "s" && event.at("ph") != "f") continue;
    CHECK(event.at("id") == id);
    CHECK(event.at("name") == "HostToDevice" + id);
    CHECK((event.at("ph") == "s" || event.at("bp") == "e"));
  }
}

TEST_CASE("copies and events have arrows from their AscendCL call") {
  ProfCapture run;
  run.scene.copy({kThread, 1000, 3000}, device_task(1, 5000, 7000), 4096, 1);
  run.scene.record_event({kThread, 4000, 5000}, device_task(2, 8000, 8100));
  run.scene.wait_event({kThread, 6000, 7000}, {4, 1, 9000, 9500, 0});
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.slices("Ascend Hardware") ==
        Lines{"Stream 3|MEMCPY_ASYNC|" + span(5000, "2.0"),
              "Stream 3|EVENT_RECORD|" + span(8000, "0.1"),
              "Stream 4|STREAM_WAIT_EVENT|" + span(9000, "0.5")});
  CHECK(args_but_id(timeline, "Ascend Hardware", "MEMCPY_ASYNC") ==
        R"j({"Model Id":4294967295,"Task Type":"SDMA_SQE","Physic Stream Id":3,"Task Id":1,)j"
        R"j("Batch Id":0,"Subtask Id":4294967295,"size(B)":4096,"bandwidth(GB/s)":2.048,)j"
        R"j("operation":"host to device"})j");
  CHECK(args_but_id(timeline, "Ascend Hardware", "EVENT_RECORD") ==
        R"j({"Model Id":4294967295,"Task Type":"EVENT_RECORD","Physic Stream Id":3,"Task Id":2,)j"
        R"j("Batch Id":0,"Subtask Id":4294967295})j");
  CHECK(timeline.arrows() ==
        Lines{"HostToDevice|Thread 100 " + moment(1000) + "|Stream 3 " + moment(5000),
              "HostToDevice|Thread 100 " + moment(4000) + "|Stream 3 " + moment(8000),
              "HostToDevice|Thread 100 " + moment(6000) + "|Stream 4 " + moment(9000)});
}

TEST_CASE("a MIX operator is drawn where it ran on the cores, not around it") {
  ProfCapture run;
  run.scene.launch({"mix", "Mix", Core::mix_aic}, {kThread, 1000, 3000},
                   device_task(1, 5000, 7000));
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.slices("Ascend Hardware") == Lines{"Stream 3|mix|" + span(5100, "1.8")});
  CHECK(args_but_id(timeline, "Ascend Hardware", "mix") ==
        R"j({"Model Id":4294967295,"Task Type":"MIX_AIC","Physic Stream Id":3,"Task Id":1,)j"
        R"j("Batch Id":0,"Subtask Id":0})j");
}

TEST_CASE("tasks are on the thread of their logic stream and show the physical stream") {
  ProfCapture run;
  run.scene.launch(kAdd, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  run.scene.launch({"mul", "Mul", Core::aic}, {kThread, 4000, 6000}, {60, 1, 7000, 8000, 0});
  run.scene.launch({"sub", "Sub", Core::aic}, {kThread, 7000, 8000}, {61, 1, 9000, 9500, 0});
  run.prof.host(LogicStream{kThread, run.prof.setup().host_at(500), 5, {60, 61}});
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.threads("Ascend Hardware") == Lines{"3|Stream 3|3", "5|Stream 5|5"});
  CHECK(timeline.slices("Ascend Hardware") == Lines{"Stream 3|add|" + span(5000, "1.5"),
                                                    "Stream 5|mul|" + span(7000, "1.0"),
                                                    "Stream 5|sub|" + span(9000, "0.5")});
  CHECK(timeline.slice("Ascend Hardware", "mul").at("args").at("Physic Stream Id") == 60);
  CHECK(timeline.slice("Ascend Hardware", "sub").at("args").at("Physic Stream Id") == 61);
}

TEST_CASE("a collective is a slice of its group, above the tasks of its planes") {
  ProfCapture run;
  run.prof.set_hash(kGroupHash, "group_a");
  Collective op = two_steps(10'000);
  op.steps[1].plane = 2;
  run.scene.collective(op, kThread, 1000);
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.threads("Communication") ==
        Lines{"0|Group group_a Communication|0", "1|Plane 0|1", "3|Plane 2|3"});
  CHECK(timeline.slices("Communication") ==
        Lines{"Group group_a Communication|hcom_a_026_0_1|" + span(10'000, "2.2"),
              "Plane 0|Memcpy|" + span(10'000, "1.0"),
              "Plane 2|Notify_Wait|" + span(11'200, "1.0")});
  CHECK(args_but_id(timeline, "Communication", "hcom_a_026_0_1") ==
        R"j({"rank_size":8,"model id":4294967295,"data_type":"FP32","alg_type":"MESH-RING",)j"
        R"j("count":1024,"relay":"no","retry":"no"})j");
  CHECK(timeline.args("Communication", "Memcpy") ==
        R"j({"notify_id":"18446744073709551615","duration estimated(us)":0.0,"stream id":9,)j"
        R"j("task id":0,"context id":4294967295,"task type":"Memcpy","src rank":0,"dst rank":1,)j"
        R"j("transport type":"SDMA","size(Byte)":4096,"data type":"FP32","link type":"HCCS",)j"
        R"j("bandwidth(GB/s)":4.096,"model id":4294967295})j");
  // The operator and its copies belong to the same call.
  CHECK(timeline.arrows() ==
        Lines{"HostToDevice|Thread 100 " + moment(1000) + "|Group group_a Communication " +
                  moment(10'000),
              "HostToDevice|Thread 100 " + moment(1000) + "|Stream 9 " + moment(10'000)});
}

TEST_CASE("an iteration is drawn with its parts, and reduces are numbered consecutively") {
  ProfCapture run;
  const auto step = [&](std::uint64_t index, std::uint64_t ns, std::uint16_t tag) {
    run.scene.step(0, ns, tag, index, 1, 3);
  };
  step(1, 10'000, 0), step(1, 10'100, 20000), step(1, 10'300, 20001), step(1, 11'000, 2);
  step(1, 12'000, 10000), step(1, 13'000, 10001), step(1, 13'200, 10002), step(1, 13'500, 10003);
  step(1, 15'000, 3), step(1, 16'000, 4), step(1, 16'100, 1);
  step(2, 20'000, 0), step(2, 22'000, 2), step(2, 23'000, 10000), step(2, 23'400, 10001);
  step(2, 25'000, 3), step(2, 26'000, 4), step(2, 26'100, 1);
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  const std::string steps = "Step Trace(Model ID:1)";
  CHECK(timeline.threads("Ascend Hardware") == Lines{"70001|" + steps + "|70001"});
  const Lines slices = {steps + "|Iteration 1|" + span(10'000, "6.0"),
                        steps + "|GetNext|" + span(10'100, "0.2"),
                        steps + "|FP_BP Time 1|" + span(11'000, "4.0"),
                        steps + "|Reduce_1_0|" + span(12'000, "1.0"),
                        steps + "|Reduce_1_1|" + span(13'200, "0.3"),
                        steps + "|Iteration Refresh 1|" + span(15'000, "1.0"),
                        steps + "|Iteration 2|" + span(20'000, "6.0"),
                        steps + "|FP_BP Time 2|" + span(22'000, "3.0"),
                        steps + "|Reduce_2_2|" + span(23'000, "0.4"),
                        steps + "|Iteration Refresh 2|" + span(25'000, "1.0")};
  CHECK(timeline.slices("Ascend Hardware") == slices);
  // The arrow leads from the middle of the refresh of iteration 1 to the FP of 2; iteration 1 has
  // no predecessor.
  CHECK(timeline.arrows() ==
        Lines{"Data_aug Bound|" + steps + " " + moment(15'500) + "|" + steps + " " + moment(22'000),
              "Data_aug Bound|nowhere|" + steps + " " + moment(11'000)});
  const TimelineFile alone(run.prof.products() / "step_trace_20231114221320.json");
  CHECK(alone.slices("Ascend Hardware") == slices);
  CHECK(alone.processes() == Lines{"Ascend Hardware|NPU 0|14|4425152"});
}

TEST_CASE("an iteration shows the start and end of its parts") {
  ProfCapture run;
  for (const auto& [ns, tag] : {std::pair(10'000, 0),
                                {11'000, 2},
                                {12'000, 10000},
                                {13'000, 10001},
                                {15'000, 3},
                                {16'000, 4},
                                {16'100, 1}}) {
    run.scene.step(0, static_cast<std::uint64_t>(ns), static_cast<std::uint16_t>(tag), 1, 1, 3);
  }
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  const std::string fp = moment(11'000), bp = moment(15'000), end = moment(16'000);
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  CHECK(timeline.args("Ascend Hardware", "Iteration 1") ==
        R"j({"Iteration ID":1,"FP Start":)j" + quoted(fp) + R"j(,"BP End":)j" + quoted(bp) +
            R"j(,"Iteration End":)j" + quoted(end) + R"j(,"Iteration Time(us)":6.0})j");
  CHECK(timeline.args("Ascend Hardware", "FP_BP Time 1") ==
        R"j({"Iteration ID":1,"FP Start":)j" + quoted(fp) + R"j(,"BP End":)j" + quoted(bp) +
            R"j(,"FP_BP Time(us)":4.0})j");
  CHECK(timeline.args("Ascend Hardware", "Iteration Refresh 1") ==
        R"j({"Iteration ID":1,"BP End":)j" + quoted(bp) + R"j(,"Iteration End":)j" + quoted(end) +
            R"j(,"Iteration Refresh(us)":1.0})j");
  CHECK(timeline.args("Ascend Hardware", "Reduce_1_0") ==
        R"j({"Iteration ID":1,"Reduce End 0":"1700000000000013000",)j"
        R"j("Reduce Start 0":"1700000000000012000"})j");
}

TEST_CASE("a device computes, communicates or is free") {
  ProfCapture run;
  run.prof.set_hash(kGroupHash, "group_a");
  run.scene.launch(kAdd, {kThread, 100, 900}, device_task(1, 10'000, 14'000));
  run.scene.launch({"mul", "Mul", Core::aic}, {kThread, 1000, 1800}, {4, 1, 13'000, 16'000, 0});
  run.scene.collective(two_steps(15'000), kThread, 2000);
  run.scene.copy({kThread, 6000, 7000}, device_task(2, 20'000, 21'000), 4096, 1);
  run.prof.finish();
  const TimelineFile timeline = export_timeline(run);
  CHECK(timeline.threads("Overlap Analysis") == Lines{"0|Computing|0", "1|Communication|1",
                                                      "2|Communication(Not Overlapped)|2",
                                                      "3|Free|3"});
  CHECK(timeline.slices("Overlap Analysis") ==
        Lines{"Communication|Communication|" + span(15'000, "2.2"),
              "Communication(Not Overlapped)|Communication(Not Overlapped)|" + span(16'000, "1.2"),
              "Computing|Computing|" + span(10'000, "6.0"), "Free|Free|" + span(17'200, "3.8")});
  CHECK(timeline.args("Overlap Analysis", "Free") == "{}");
}

TEST_CASE("the core frequency has its start value, every change and the end") {
  ProfCapture run;
  run.scene.launch(kAdd, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  const auto ticks = [&](std::uint64_t ns) { return run.prof.setup().ticks_at(ns); };
  run.prof.device(0, LpmFreq{{{ticks(2000), 1200}, {ticks(8000), 800}}});
  run.prof.finish();
  Lines points = export_timeline(run).counters("AI Core Freq");
  // The device's own first entry is at the start of this capture.
  points.erase(std::unique(points.begin(), points.end()), points.end());
  CHECK(points == Lines{moment(0) + R"j(|{"MHz":1000})j", moment(2000) + R"j(|{"MHz":1200})j",
                        moment(8000) + R"j(|{"MHz":800})j",
                        moment(10'000'000'000) + R"j(|{"MHz":800})j"});
}

TEST_CASE("voltages of the core and the bus are separate counters") {
  ProfCapture run;
  run.scene.launch(kAdd, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  const auto ticks = [&](std::uint64_t ns) { return run.prof.setup().ticks_at(ns); };
  run.prof.device(0, LpmInfo{1, {{ticks(2000), 800}, {ticks(8000), 820}}});
  run.prof.device(0, LpmInfo{2, {{ticks(3000), 850}}});
  run.prof.finish();
  CHECK(export_timeline(run).counters("Voltage Info") ==
        Lines{moment(2000) + R"j(|{"mV":800})j", moment(3000) + R"j(|{"mV":850})j",
              moment(8000) + R"j(|{"mV":820})j", moment(10'000'000'000) + R"j(|{"mV":820})j",
              moment(10'000'000'000) + R"j(|{"mV":850})j"});
}

TEST_CASE("application marks are on their threads, and their device times on the stream") {
  ProfCapture run;
  run.scene.mark(kThread, 1000, 3000, "load");
  TxMark mark;
  mark.is_ex = true;
  mark.thread = 77;
  mark.event = 3;
  mark.domain = run.prof.hash("domain_a");
  mark.mark = 5;
  mark.begin = mark.end = run.prof.setup().host_at(10'000);
  mark.message = "here";
  run.prof.host(mark);
  run.scene.step(0, 15'000, 11, 5, 4294967295, 3);
  run.scene.step(0, 16'000, 11, 9, 4294967295, 3);  // a mark unknown to the host
  run.prof.finish();
  (void)export_timeline(run);
  for (const std::string name : {"msprof", "msprof_tx"}) {
    INFO(name);
    const TimelineFile timeline(run.prof.products() / (name + "_20231114221320.json"));
    CHECK(timeline.slices("python3") ==
          Lines{"Thread 100|load|" + span(1000, "2.0"), "Thread 77|here|" + span(10'000, "0.0")});
    CHECK(timeline.args("python3", "load") ==
          R"j({"Category":"0","Payload_type":0,"Payload_value":0,"Message_type":0,)j"
          R"j("event_type":"start/end"})j");
    CHECK(timeline.args("python3", "here") ==
          R"j({"event_type":"marker_ex","domain":"domain_a"})j");
    CHECK(timeline.slices("Ascend Hardware") ==
          Lines{"Stream 3|here|" + span(15'000, "0.0"), "Stream 3|N/A|" + span(16'000, "0.0")});
    CHECK(timeline.args("Ascend Hardware", "here") ==
          R"j({"Physic Stream Id":3,"Task Id":60000})j");
    CHECK(timeline.arrows() ==
          Lines{"MsTx|Thread 77 " + moment(10'000) + "|Stream 3 " + moment(15'000)});
  }
}
