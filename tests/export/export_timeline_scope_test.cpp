// Timeline layers of CANN captures about steps, named ranges and counters; the scope of all layers;
// stores with contradictory rows.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "export/timeline_events.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

IterationRow iteration(std::int64_t id, std::int64_t model, std::int64_t number) {
  IterationRow row;
  row.id = id;
  row.device_id = 0;
  row.model_number = model;
  row.number = number;
  row.start_ns = kSecond + 1000 * id;
  row.fp_start_ns = row.start_ns + 100;
  row.bp_end_ns = row.start_ns + 400;
  row.end_ns = row.start_ns + 500;
  row.duration_ns = 501;
  row.fp_bp_ns = 301;
  row.refresh_ns = 101;
  row.data_aug_ns = 61;
  return row;
}

void add_part(CannStore& store, std::int64_t id, std::int64_t iteration_id, bool is_get_next,
              std::int64_t start_ns) {
  IterationPartRow part;
  part.id = id;
  part.iteration_id = iteration_id;
  part.is_get_next = is_get_next ? 1 : 0;
  part.start_ns = start_ns;
  part.end_ns = start_ns + 40;
  store.add(part);
}

UserRangeRow user_range(CannStore& store, std::int64_t id, std::int64_t mark, bool is_extended) {
  UserRangeRow row;
  row.id = id;
  row.is_extended = is_extended ? 1 : 0;
  row.thread_id = 9;
  row.event_type = 2;
  row.start_ns = kSecond + 10 * id;
  row.end_ns = row.start_ns + 5;
  row.message_name_id = store.name("range " + std::to_string(id));
  row.domain_name_id = store.name("default");
  row.mark_id = mark;
  row.category = 3;
  row.payload_type = 1;
  row.payload_value = -1;
  row.message_type = 2;
  return row;
}

void add_device_mark(CannStore& store, std::int64_t id, std::int64_t device, std::int64_t mark,
                     std::int64_t start_ns) {
  DeviceMarkRow row;
  row.id = id;
  row.device_id = device;
  row.mark_id = mark;
  row.start_ns = start_ns;
  row.end_ns = start_ns;
  row.stream_id = 60;
  row.task_number = 4;
  store.add(row);
}

ExportScope range_from(std::int64_t begin_ns) {
  ExportScope scope;
  scope.range_begin_ns = begin_ns;
  return scope;
}

OutputFile with(const ExportScope& scope) {
  OutputFile output_file;
  output_file.scope = scope;
  return output_file;
}

// A call that launched a task on each of two devices, and related rows.
void fill_launch(CannStore& store) {
  add_call(store, 1, "launch", kNode, kSecond + 100, 50);
  add_op(store, 1, "Add_1", "AI_CORE");
  for (std::int64_t device = 0; device < 2; ++device) {
    TaskRow row = task(store, device + 1, "KERNEL_AICORE", kSecond + 200 + 100 * device, 20);
    row.device_id = device;
    row.op_id = 1;
    row.api_id = 1;
    row.model_number = device + 1;
    store.add(row);
    add_run(store, device + 1, device, device + 1);
  }
}

}  // namespace

TEST_CASE("an iteration has its passes, its refresh and an arrow to the next one") {
  CannStore store;
  store.add(iteration(1, 1, 1));
  const json all = events(store, make_cann_steps());
  CHECK(names(all, "X") ==
        std::vector<std::string>{"Iteration 1", "FP_BP Time 1", "Iteration Refresh 1"});
  CHECK(select_events(all, "X")[0].dump() ==
        R"x({"args":{"BP End":"1000001.400","FP Start":"1000001.100",)x"
        R"x("Iteration End":"1000001.500","Iteration ID":1,"Iteration Time(us)":0.501},)x"
        R"x("cat":"Iteration Time","dur":0.501,"name":"Iteration 1","ph":"X","pid":448,)x"
        R"x("tid":70001,"ts":"1000001.000"})x");
  const json end = select_events(all, "f")[0];
  const json start = select_events(all, "s")[0];
  CHECK(end["name"] == "Data_aug Bound 0");
  CHECK(end["ts"] == "1000001.100");
  CHECK(start["name"] == "Data_aug Bound 1");
  CHECK(start["ts"] == "1000001.450");  // BP End + refresh / 2
  CHECK(start["args"]["Data_aug Bound(us)"] == 0.061);
  // Ids are numbers, and these differ: the arrow that ends here does not start in this file.
  CHECK(end["id"] == "1");
  CHECK(start["id"] == "2");
  CHECK(thread_name(all, 70001) == "Step Trace(Model ID:1)");
}

TEST_CASE(
    "an iteration without marks is one slice, and iterations without model have a thread too") {
  CannStore store;
  IterationRow row = iteration(1, 1, 1);
  row.model_number = kNull;
  row.fp_start_ns = kNull;
  store.add(row);
  const json all = events(store, make_cann_steps());
  CHECK(names(all, "X") == std::vector<std::string>{"Iteration 1"});
  CHECK(select_events(all, "X")[0]["args"]["FP Start"] == "N/A");
  CHECK(select_events(all, "X")[0]["args"]["BP End"] == "1000001.400");
  CHECK(select_events(all, "s").empty());
  CHECK(thread_name(all, 69999) == "Step Trace(Model ID:4294967295)");
}

TEST_CASE("reduces are numbered through the whole file, by model and then by time") {
  CannStore store;
  store.add(iteration(1, 5, 1));
  store.add(iteration(2, 1, 7));
  add_part(store, 1, 1, false, kSecond + 1200);
  add_part(store, 2, 2, true, kSecond + 2150);
  add_part(store, 3, 2, false, kSecond + 2200);
  const json all = events(store, make_cann_steps());
  const auto drawn = names(all, "X");
  CHECK(std::vector<std::string>(drawn.end() - 3, drawn.end()) ==
        std::vector<std::string>{"GetNext", "Reduce_7_0", "Reduce_1_1"});
  CHECK(select_events(all, "X").back()["args"].dump() ==
        R"({"Iteration ID":1,"Reduce End 1":"1000001240","Reduce Start 1":"1000001200"})");
}

TEST_CASE("a plain range shows its payload, a range with an id starts an arrow") {
  CannStore store;
  store.set_meta("host.pid_name", "python3");
  store.add(user_range(store, 1, 7, false));
  store.add(user_range(store, 2, 7, true));
  const json all = events(store, make_cann_user_ranges());
  const json slices = select_events(all, "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["args"].dump() ==
        R"({"Category":"3","Message_type":2,"Payload_type":1,"Payload_value":18446744073709551615,)"
        R"("event_type":"start/end"})");
  CHECK(slices[1]["args"].dump() == R"({"domain":"default","event_type":"start/end"})");
  const json starts = select_events(all, "s");
  REQUIRE(starts.size() == 1);
  CHECK(starts[0]["name"] == "MsTx_4000000008");
  CHECK(starts[0]["ts"] == slices[1]["ts"]);
  CHECK(thread_name(all, 9) == "Thread 9");
}

TEST_CASE(
    "devices repeat a mark by its message; the arrow ends at the latest, never at an unrelated "
    "one") {
  CannStore store;
  store.add(user_range(store, 1, 7, true));
  add_device_mark(store, 1, 0, 7, kSecond + 300);
  add_device_mark(store, 2, 0, 8, kSecond + 400);
  add_device_mark(store, 3, 1, 7, kSecond + 200);
  const json all = events(store, make_cann_user_ranges());
  CHECK(names(all, "X") == std::vector<std::string>{"range 1", "range 1", "N/A", "range 1"});
  REQUIRE(select_events(all, "f").size() == 1);
  CHECK(select_events(all, "f")[0]["ts"] == "1000000.300");
  REQUIRE(select_events(all, "t").size() == 1);
  CHECK(select_events(all, "t")[0]["ts"] == "1000000.200");
  CHECK(thread_name(all, 60) == "Stream 60");
}

TEST_CASE("ranges and marks from before the collection are omitted") {
  CannStore store;
  UserRangeRow early = user_range(store, 1, 7, true);
  early.start_ns = kSecond - 1;
  store.add(early);
  add_device_mark(store, 1, 0, 7, kSecond - 1);
  CHECK(events(store, make_cann_user_ranges()).empty());
}

TEST_CASE("core frequency and operator memory are drawn as counters") {
  CannStore store;
  TrackRow track;
  track.id = 1;
  track.device_id = 1;
  track.name_id = store.name("AI Core Freq");
  track.unit_name_id = store.name("MHz");
  store.add(track);
  CounterRow point;
  point.id = 1;
  point.track_id = 1;
  point.time_ns = kSecond + 5;
  point.value = 1650;
  store.add(point);
  MemoryEventRow memory;
  memory.id = 1;
  memory.device_id = 0;
  memory.time_ns = kSecond + 7;
  memory.total_allocated_bytes = 2048;
  memory.total_reserved_bytes = 4096;
  store.add(memory);
  memory.id = 2;
  memory.total_allocated_bytes = kNull;
  store.add(memory);
  const json frequency = select_events(events(store, make_cann_frequency()), "C");
  REQUIRE(frequency.size() == 1);
  CHECK(frequency[0]["args"].dump() == R"({"MHz":1650})");
  CHECK(frequency[0]["ts"] == "1000000.005");
  const json counters = select_events(events(store, make_cann_memory()), "C");
  REQUIRE(counters.size() == 2);
  CHECK(counters[0]["name"] == "Operator memory allocated");
  CHECK(counters[0]["args"].dump() == R"({"KB":2})");
  CHECK(counters[1]["args"].dump() == R"({"KB":4})");
}

TEST_CASE("a timeline of one device has no tasks, threads or processes of another") {
  CannStore store;
  fill_launch(store);
  ExportScope scope;
  scope.devices = {1};
  const json all = events(store, make_cann_hardware(), with(scope));
  REQUIRE(select_events(all, "X").size() == 1);
  CHECK(select_events(all, "X")[0]["args"]["Task Id"] == 2);
  for (const json& event : all) CHECK(event["pid"] == select_events(all, "X")[0]["pid"]);
}

TEST_CASE("a slice outside the scope has no arrow ends") {
  CannStore store;
  fill_launch(store);
  SECTION("the call is before the range") {
    const OutputFile output_file = with(range_from(kSecond + 180));
    CHECK(events(store, make_cann_calls(), output_file).empty());
    const json all = events(store, make_cann_hardware(), output_file);
    CHECK(select_events(all, "X").size() == 2);
    CHECK(select_events(all, "f").empty());
    CHECK(select_events(all, "t").empty());
  }
  SECTION("the tasks are too short") {
    ExportScope scope;
    scope.min_duration_ns = 30;
    CHECK(select_events(events(store, make_cann_calls(), with(scope)), "s").size() == 1);
    CHECK(events(store, make_cann_hardware(), with(scope)).empty());
  }
  SECTION("tasks of another model") {
    ExportScope scope;
    scope.model_number = 2;
    const json all = events(store, make_cann_hardware(), with(scope));
    CHECK(select_events(all, "X").size() == 1);
    CHECK(select_events(all, "f").size() == 1);
  }
}

TEST_CASE("an empty scope gives layers without events and metadata") {
  CannStore store;
  fill_launch(store);
  store.add(iteration(1, 1, 1));
  store.add(user_range(store, 1, 7, true));
  add_device_mark(store, 1, 0, 7, kSecond + 300);
  const OutputFile output_file = with(range_from(2 * kSecond));
  CHECK(events(store, make_cann_calls(), output_file).empty());
  CHECK(events(store, make_cann_hardware(), output_file).empty());
  CHECK(events(store, make_cann_steps(), output_file).empty());
  CHECK(events(store, make_cann_user_ranges(), output_file).empty());
  CHECK(events(store, make_cann_communication(), output_file).empty());
  CHECK(events(store, make_cann_frequency(), output_file).empty());
  CHECK(events(store, make_cann_memory(), output_file).empty());
}

TEST_CASE("dangling ids are a damaged store, not a crash") {
  CannStore store;
  add_call(store, 1, "launch", kNode, kSecond + 1, 5);
  TaskRow row = task(store, 1, "MEMCPY_ASYNC", kSecond + 100, 10);
  SECTION("marks of calls after the last") {
    store.add(CallMarkRow{1'000'000, 1});
    store.add(CallMarkRow{INT64_MAX, 1});
    CHECK(select_events(events(store, make_cann_calls()), "s").size() == 1);
  }
  SECTION("a task of no operator") {
    row.op_id = 77;
    store.add(row);
    add_run(store, 1);
    CHECK_THROWS_AS(events(store, make_cann_hardware()), Error);
  }
  SECTION("a call whose id would need all memory") {
    add_call(store, INT64_MAX - 1, "launch", kNode, kSecond + 2, 5);
    CHECK_THROWS_AS(events(store, make_cann_calls()), Error);
  }
  SECTION("a task of a collective without its call") {
    store.add(row);
    store.add(CommTaskRow{.task_id = 1, .comm_call_id = 3});
    CHECK_THROWS_AS(events(store, make_cann_communication()), Error);
  }
  SECTION("times at the limits of the range") {
    row.start_ns = INT64_MAX;
    row.duration_ns = INT64_MAX;
    store.add(row);
    add_run(store, 1);
    CHECK_NOTHROW(events(store, make_cann_hardware()));
  }
}
