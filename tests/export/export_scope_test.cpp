// The scope of tables: the rows of each CANN table that belong to an iteration or a device. The
// rows are hand-made.
#include <algorithm>
#include <catch2/catch.hpp>

#include "export/exporter.hpp"
#include "export/scope/export_scope.hpp"
#include "support/cann_store.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

void add_task(CannStore& store, std::int64_t id, std::int64_t device, std::int64_t start_ns,
              std::int64_t model) {
  TaskRow task;
  task.id = id;
  task.op_id = 1;
  task.start_ns = kSecond + start_ns;
  task.duration_ns = 10;
  task.device_id = device;
  task.stream_id = 3;
  task.task_number = id;
  task.batch = 0;
  task.device_type_name_id = store.name("AIV_SQE");
  task.model_number = model;
  store.add(task);
}

void add_launch(CannStore& store, std::int64_t id, std::int64_t level, std::int64_t start_ns) {
  ApiCallRow call;
  call.id = id;
  call.process_id = 5;
  call.thread_id = 7;
  call.name_id = store.name("launch");
  call.item_name_id = store.name("add_1");
  call.start_ns = kSecond + start_ns;
  call.end_ns = kSecond + start_ns + 20;
  call.level = level;
  store.add(call);
}

void add_iteration(CannStore& store, std::int64_t id, std::int64_t device, std::int64_t number,
                   std::int64_t start_ns, std::int64_t end_ns) {
  IterationRow row;
  row.id = id;
  row.device_id = device;
  row.model_number = 1;
  row.number = number;
  row.start_ns = kSecond + start_ns;
  row.end_ns = kSecond + end_ns;
  row.duration_ns = end_ns - start_ns;
  row.fp_bp_ns = row.refresh_ns = row.data_aug_ns = 0;
  store.add(row);
}

void add_device(CannStore& store, std::int64_t id, std::int64_t platform) {
  DeviceRow row;
  row.id = id;
  row.platform = platform;
  store.add(row);
}

// Two devices; iterations 1 and 2 of model 1 on device 0, iteration 1 on device 1.
struct Scene {
  CannStore store;

  Scene() {
    for (const std::int64_t device : {0, 1}) add_device(store, device, 5);
    OpRow op;
    op.id = 1;
    op.name_id = store.name("add_1");
    op.type_name_id = store.name("Add");
    op.unit_name_id = store.name("AI_VECTOR_CORE");
    store.add(op);
    // Device 0: two tasks in iteration 1, one of another model at that time, one in iteration 2,
    // one after it.
    add_task(store, 1, 0, 100, 1);
    add_task(store, 2, 0, 150, 2);
    add_task(store, 3, 0, 200, 1);
    add_task(store, 4, 0, 350, 1);
    add_task(store, 5, 0, 900, 1);
    add_task(store, 6, 1, 120, 1);
    store.add(TaskRunRow{1, kNull, 1, 5, 0});
    store.add(TaskRunRow{2, kNull, 6, 6, 1});
    add_iteration(store, 1, 0, 1, 100, 300);
    add_iteration(store, 2, 0, 2, 300, 500);
    add_iteration(store, 3, 1, 1, 100, 130);
    add_launch(store, 1, 5000, 50);
    add_launch(store, 2, 10000, 250);
    add_launch(store, 3, 5000, 310);
    add_launch(store, 4, 5000, 890);
    store.add(FusionOpRow{1, 1, kNull, store.name("one"), kNull, 0, 0, 0, 0, 100});
    store.add(FusionOpRow{2, 2, kNull, store.name("two"), kNull, 0, 0, 0, 0, 1});
    store.add(CommSpanRow{1, 0, store.name("hcom_allReduce_"), kSecond + 310, 40});
    store.add(CommSpanRow{2, 1, store.name("hcom_allReduce_"), kSecond + 110, 50});
  }

  ExportScope iteration(std::int64_t number, std::vector<std::int64_t> devices = {}) {
    ExportScope scope;
    scope.devices = std::move(devices);
    scope.model_number = 1;
    scope.iteration = number;
    find_iteration(store.db().database(), scope);
    return scope;
  }

  // The files of one table below the folder `out`, by name.
  std::map<std::string, std::string> files(const std::string& table, const ExportScope& scope,
                                           ExportStyle style = ExportStyle::current) {
    std::map<std::string, std::string> files;
    for (const ExportedFile& file :
         export_summaries(store.db(), store.folder() / "out",
                          {.names = {table}, .scope = scope, .style = style})) {
      files[file.path.lexically_relative(store.folder() / "out").string()] = read_file(file.path);
    }
    return files;
  }
  // Returns the rows of the only file.
  std::string rows(const std::string& table, const ExportScope& scope,
                   ExportStyle style = ExportStyle::current) {
    const auto all = files(table, scope, style);
    if (all.empty()) return "no file";
    REQUIRE(all.size() == 1);
    const std::string& bytes = all.begin()->second;
    return bytes.substr(bytes.find('\n') + 1);
  }
  std::size_t count(const std::string& table, const ExportScope& scope) {
    const std::string all = rows(table, scope);
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
  }
};

void add_l2(CannStore& store, std::int64_t id, std::int64_t device, std::int64_t task,
            std::initializer_list<std::int64_t> events) {
  L2CacheRow row;
  row.id = id;
  row.device_id = device;
  row.stream_id = 3;
  row.task_number = task;
  std::size_t at = 0;
  for (const std::int64_t event : events) row.e[at++] = event;
  store.add(row);
}

}  // namespace

TEST_CASE(
    "tasks of an iteration start within it, on a device that ran it, and belong to its model") {
  Scene scene;
  const ExportScope first = scene.iteration(1);
  CHECK(scene.count("task_time", first) == 3);
  CHECK(scene.count("op_summary", first) == 3);
  CHECK(scene.rows("op_statistic", first) ==
        "0,Add,AI_VECTOR_CORE,2,0.02,0.01,0.01,0.01,100\n"
        "1,Add,AI_VECTOR_CORE,1,0.01,0.01,0.01,0.01,100\n");
  const ExportScope second = scene.iteration(2);
  CHECK(scene.count("task_time", second) == 1);
  CHECK(scene.count("op_summary", second) == 1);
  ExportScope device;
  device.devices = {1};
  CHECK(scene.count("task_time", device) == 1);
  CHECK(scene.count("op_summary", device) == 1);
  CHECK(scene.count("task_time", {}) == 6);
}

TEST_CASE("host tables include what starts within the iteration on any of its devices") {
  Scene scene;
  CHECK(scene.rows("api_statistic", scene.iteration(1)) ==
        "host,node,launch,0.02,1,0.02,0.02,0.02,0\n");
  CHECK(scene.rows("api_statistic", scene.iteration(2)) ==
        "host,runtime,launch,0.02,1,0.02,0.02,0.02,0\n");
  CHECK(scene.count("fusion_op", scene.iteration(2)) == 1);
  ExportScope device;
  device.devices = {1};
  CHECK(scene.count("fusion_op", device) == 2);
  CHECK(scene.count("api_statistic", device) == 2);
}

TEST_CASE("step_trace shows the requested iteration") {
  Scene scene;
  CHECK(scene.count("step_trace", scene.iteration(1)) == 2);
  CHECK(scene.rows("step_trace", scene.iteration(2)) ==
        "0,2,0.000\t,0.000\t,1000000.500\t,0.200,0.000,0.000,0.000,1\n");
  ExportScope device;
  device.devices = {1};
  CHECK(scene.count("step_trace", device) == 1);
}

TEST_CASE("a table without rows in the scope has no file") {
  Scene scene;
  CHECK(scene.files("communication_statistic", scene.iteration(1, {0})).empty());
  CHECK(scene.count("communication_statistic", scene.iteration(1)) == 1);
  CHECK(scene.count("communication_statistic", scene.iteration(2)) == 1);
}

TEST_CASE("file names of one iteration contain the model, the iteration and a single device") {
  Scene scene;
  CHECK(scene.files("op_summary", scene.iteration(1)).begin()->first ==
        "mindstudio_profiler_output/op_summary_1_1_20240515160507.csv");
  CHECK(scene.files("op_summary", scene.iteration(2)).begin()->first ==
        "mindstudio_profiler_output/op_summary_0_1_2_20240515160507.csv");
}

TEST_CASE("a missing iteration is refused with a list of the existing ones") {
  Scene scene;
  CHECK_THROWS_WITH(scene.iteration(3),
                    Catch::Contains("no iteration 3 of model 1; model 1: iterations 1 to 2"));
  CHECK_THROWS_WITH(scene.iteration(2, {1}), Catch::Contains("no iteration 2 of model 1"));
}

TEST_CASE("board captures refuse iterations and the style of CANN 5") {
  CannStore store;
  store.set_meta("dialect", "svp");
  ExportScope scope;
  scope.model_number = 1;
  scope.iteration = 1;
  const auto folder = store.folder() / "out";
  CHECK_THROWS_WITH(
      plan_summaries(store.db(), folder, {.names = {}, .scope = scope}),
      Catch::Contains("--model-id and --iteration-id apply only to captures of Atlas"));
  CHECK_THROWS_WITH(find_iteration(store.db().database(), scope),
                    Catch::Contains("a board (JOB…) records no iterations"));
  CHECK_THROWS_WITH(plan_timelines(store.db(), folder, {.layers = {}, .style = ExportStyle::cann5}),
                    Catch::Contains("--style cann5 applies only to captures of Atlas machines"));
}

TEST_CASE("tables of a board contain the models of the requested device") {
  CannStore store;
  store.set_meta("dialect", "svp");
  for (const std::int64_t device : {0, 1}) {
    add_device(store, device, kNull);
    ModelRow model;
    model.id = device + 1;
    model.device_id = device;
    model.model_id = 7;
    model.name_id = store.name("net");
    store.add(model);
    ApiCallRow call;
    call.id = device + 1;
    call.model_row = model.id;
    call.type_name_id = store.name("model");
    call.name_id = store.name("svp_acl_mdl_execute");
    call.start_ns = kSecond;
    call.end_ns = kSecond + 10;
    store.add(call);
  }
  const auto count = [&](std::vector<std::int64_t> devices) {
    ExportScope scope;
    scope.devices = std::move(devices);
    const SummaryOptions options{.names = {"acl_statistic"}, .scope = scope};
    return plan_summaries(store.db(), store.folder() / "out", options).size();
  };
  CHECK(count({}) == 2);
  CHECK(count({1}) == 1);
  CHECK(count({0, 1}) == 2);
}

TEST_CASE("tables that exist only in CANN 5 are computed from calls and tasks") {
  Scene scene;
  ExportScope device;
  device.devices = {0};
  const auto old = ExportStyle::cann5;
  CHECK(scene.files("runtime_api", device, old) ==
        std::map<std::string, std::string>{
            {"device_0/summary/runtime_api_0.csv",
             "Name,Stream ID,Time(%),Time(ns),Calls,Avg(ns),Min(ns),Max(ns),Process ID,Thread ID\n"
             "launch,N/A,100,60,3,20,20,20,5,7\n"}});
  CHECK(scene.files("ge_op_execute", scene.iteration(1, {0}), old) ==
        std::map<std::string, std::string>{
            {"device_0/summary/ge_op_execute_0_1_1.csv",
             "Thread ID,OP Name,OP Type,Event Type,Start Time,Duration(us)\n"
             "7,add_1,Add,launch,1000000.250\t,0.020\n"}});
  CHECK(scene.rows("ai_stack_time", scene.iteration(2), old) ==
        "2,Runtime,launch,1000000.310\t,20\n"
        "2,Task Scheduler,add_1,1000000.350\t,10\n");
}

TEST_CASE("fusion_op of CANN 5 has no device, and bytes") {
  Scene scene;
  const auto files = scene.files("fusion_op", scene.iteration(1, {0}), ExportStyle::cann5);
  REQUIRE(files.contains("device_0/summary/fusion_op_0_1_1.csv"));
  CHECK(files.at("device_0/summary/fusion_op_0_1_1.csv") ==
        "Model Name,Model ID,Fusion Op,Original Ops,Memory Input(Bytes),Memory Output(Bytes),"
        "Memory Weight(Bytes),Memory Workspace(Bytes),Memory Total(Bytes)\n"
        ",1,one,,0,0,0,0,100\n");
}

TEST_CASE("step_trace of CANN 5 leaves cells empty that depend on a missing FP or BP") {
  Scene scene;
  IterationRow forward;
  forward.id = 4;
  forward.device_id = 0;
  forward.model_number = 1;
  forward.number = 3;
  forward.start_ns = kSecond + 500;
  forward.fp_start_ns = kSecond + 510;
  forward.end_ns = kSecond + 600;
  forward.duration_ns = 100;
  forward.fp_bp_ns = forward.refresh_ns = 0;
  forward.data_aug_ns = 10;
  scene.store.add(forward);
  ExportScope device;
  device.devices = {0};
  CHECK(scene.rows("step_trace", device, ExportStyle::cann5) ==
        "1,,,1000000.300\t,0.200,,,,1\n"
        "2,,,1000000.500\t,0.200,,,,1\n"
        "3,1000000.510\t,,1000000.600\t,0.100,,,0.010,1\n");
}

TEST_CASE("dp has a row for each dequeue, in the order of devices") {
  CannStore store;
  add_device(store, 0, 1);
  store.add(
      DataQueueRow{1, 1, store.name("queue_b"), store.name("Last queue dequeue"), 77, kNull, 1, 9});
  store.add(
      DataQueueRow{2, 0, store.name("queue_a"), store.name("Last queue dequeue"), 78, kNull, 1, 8});
  store.add(DataQueueRow{3, 0, store.name("node"), kNull, 78, 79, kNull, 8});
  CHECK(store.header("dp") == "Device_id,Timestamp(us),Action,Source,Cached Buffer Size");
  CHECK(store.rows("dp") ==
        "0,78\t,Last queue dequeue,queue_a,8\n1,77\t,Last queue dequeue,queue_b,9\n");
}

TEST_CASE("rates of the L2 cache are computed from the events of the chip") {
  CannStore store;
  add_device(store, 0, 1);  // 910A: request 0x59, hit 0x5b, victim 0x5c
  store.set_meta("l2_cache.events.0", "0x5b,0x59,0x5c");
  add_device(store, 1, 2);  // 310P: requests 0x78 and 0x79
  store.set_meta("l2_cache.events.1", "0x6a,0x71,0x78,0x79");
  add_device(store, 2, 5);  // STARS: no hit rate
  store.set_meta("l2_cache.events.2", "0xfb,0xfc,0x90,0x91,0x9c");
  add_device(store, 3, 1);  // an event is missing
  store.set_meta("l2_cache.events.3", "0x5b,0x59");
  add_device(store, 4, 0);  // unknown events
  store.set_meta("l2_cache.events.4", "0x59");
  add_l2(store, 1, 0, 1, {1, 3, 3});
  add_l2(store, 2, 0, 2, {5, 0, 1});
  add_l2(store, 3, 1, 1, {3, 1, 5, 3});
  add_l2(store, 4, 2, 1, {6, 2, 1, 1, 2});
  add_l2(store, 5, 3, 1, {1, 1});
  add_l2(store, 6, 4, 1, {1});
  CHECK(store.rows("l2_cache") ==
        "0,3,1,0.333333,1.0\n"
        "0,3,2,0,0\n"
        "1,3,1,0.375,0.125\n"
        "2,3,1,N/A,0.25\n"
        "4,3,1,N/A,N/A\n");
}

TEST_CASE("an L2 record names the operator of its task if all wraparounds of the id agree") {
  Scene scene;
  scene.store.set_meta("l2_cache.events.0", "0xfb,0xfc,0x90,0x91,0x9c");
  OpRow other;
  other.id = 2;
  other.name_id = scene.store.name("other");
  scene.store.add(other);
  TaskRow turn;
  turn.id = 7;
  turn.op_id = 2;
  turn.start_ns = kSecond + 990;
  turn.duration_ns = 1;
  turn.device_id = 0;
  turn.stream_id = 3;
  turn.task_number = 3;
  scene.store.add(turn);
  add_l2(scene.store, 1, 0, 1, {1, 1, 0, 0, 1});
  add_l2(scene.store, 2, 0, 3, {1, 1, 0, 0, 1});
  add_l2(scene.store, 3, 0, 99, {1, 1, 0, 0, 1});
  CHECK(scene.rows("l2_cache", {}) ==
        "0,3,1,N/A,0.5,add_1\n0,3,3,N/A,0.5,N/A\n0,3,99,N/A,0.5,N/A\n");
  // Within iteration 1, task 3 was this operator, and task 99 did not run.
  CHECK(scene.rows("l2_cache", scene.iteration(1)) == "0,3,1,N/A,0.5,add_1\n0,3,3,N/A,0.5,add_1\n");
}
