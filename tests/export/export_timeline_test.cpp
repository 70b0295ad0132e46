// Timeline layers of CANN captures about calls, tasks and collectives: writes hand-made rows and
// checks the events.
#include <catch2/catch.hpp>

#include "export/old/registry.hpp"
#include "export/timeline_events.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

CommCallRow comm_call(CannStore& store, std::int64_t id, std::int64_t api) {
  CommCallRow row;
  row.id = id;
  row.api_id = api;
  row.item_name_id = store.name("Memcpy");
  row.group_name_id = store.name("g");
  row.op_group_name_id = row.group_name_id;
  row.op_relay = 0;
  row.op_retry = 1;
  row.op_data_type = 4;
  row.op_algorithm_name_id = store.name("MESH");
  row.op_count = 9;
  row.plane_id = 2;
  row.local_rank = 0;
  row.remote_rank = 1;
  row.notify_id = -1;
  row.duration_estimated_ps = 17'120'000;
  row.size_bytes = 3000;
  row.data_type = 4;
  row.link_type = 1;
  row.transport_type = 99;
  return row;
}

void add_comm_op(CannStore& store, std::int64_t id, std::int64_t start_ns, std::int64_t call) {
  CommOpRow op;
  op.id = id;
  op.device_id = 0;
  op.name_id = store.name("hcom_allReduce__101_1_1_026_0_1");
  op.start_ns = start_ns;
  op.end_ns = start_ns + 500;
  op.rank_size = 8;
  op.first_comm_call_id = call;
  store.add(op);
}

}  // namespace

TEST_CASE("a call is a slice of its thread with its level, mode and item") {
  CannStore store;
  store.set_meta("host.pid", "4321");
  add_call(store, 1, "aclnnAdd", kAcl, kSecond + 1001, 2500);
  add_call(store, 2, "launch", kNode, kSecond + 1500, 1000, "Add \"1\"");
  add_call(store, 3, "odd", 6000, kSecond + 1600, 0);
  const json all = events(store, make_cann_calls());
  const json slices = select_events(all, "X");
  REQUIRE(slices.size() == 3);
  CHECK(slices[0].dump() ==
        R"({"args":{"Mode":"ACL_RTS","Thread Id":7,"connection_id":1,"id":"aclnnAdd",)"
        R"("item_id":"0","level":"acl"},"dur":2.5,"name":"AscendCL@aclnnAdd","ph":"X",)"
        R"("pid":4424959,"tid":7,"ts":"1000001.001"})");
  CHECK(slices[1]["name"] == "Node@launch");
  CHECK(slices[1]["args"]["item_id"] == "Add \"1\"");
  CHECK(slices[1]["args"]["id"] == "0");
  CHECK(slices[2]["name"] == "Api@odd");
  CHECK(slices[2]["args"]["level"] == "");
  CHECK(thread_name(all, 7) == "Thread 7");
}

TEST_CASE("arrows start only at node calls, at events and at copy calls") {
  CannStore store;
  add_call(store, 1, "aclrtRecordEvent", kAcl, kSecond + 1, 5);
  add_call(store, 2, "aclrtMemcpyAsync", kAcl, kSecond + 2, 5);
  add_call(store, 3, "launch", kNode, kSecond + 3, 5);
  add_call(store, 4, "aclrtRecordEvent", 5000, kSecond + 4, 5);
  TaskRow copy = task(store, 1, "MEMCPY_ASYNC", kSecond + 100, 10);
  copy.api_id = 2;
  store.add(copy);
  add_run(store, 1);
  const json starts = select_events(events(store, make_cann_calls()), "s");
  REQUIRE(starts.size() == 3);
  CHECK(starts[0]["id"] == "4294967296");
  CHECK(starts[0]["name"] == "HostToDevice4294967296");
  CHECK(starts[1]["id"] == std::to_string(std::int64_t{2} << 32));
  CHECK(starts[2]["ts"] == "1000000.003");
}

TEST_CASE("a timeline of CANN 5 about one level of calls draws only that level") {
  CannStore store;
  add_call(store, 1, "launch", kNode, kSecond + 3, 5);
  add_call(store, 2, "aclnnAdd", kAcl, kSecond + 4, 5);
  CHECK(names(events(store, make_cann5_acl_calls()), "X") == std::vector<std::string>{"aclnnAdd"});
  CHECK(names(events(store, make_cann5_calls()), "X") ==
        std::vector<std::string>{"launch", "aclnnAdd"});
}

TEST_CASE("calls from before the collection are drawn only while a model is loaded") {
  CannStore store;
  add_call(store, 1, "ModelLoad", 15000, kSecond - 100, 50);
  add_call(store, 2, "within", kNode, kSecond - 90, 10);
  add_call(store, 3, "late", kNode, kSecond - 45, 10);
  add_call(store, 4, "into", kNode, kSecond - 40, 41);
  CHECK(names(events(store, make_cann_calls()), "X") ==
        std::vector<std::string>{"Model@ModelLoad", "Node@within", "Node@into"});
}

TEST_CASE("an arrow with several ends finishes at the latest") {
  CannStore store;
  add_call(store, 1, "hcom", kNode, kSecond + 1, 5);
  TaskRow copy = task(store, 1, "MEMCPY_ASYNC", kSecond + 100, 10);
  copy.api_id = 1;
  store.add(copy);
  copy.id = 2;
  copy.task_number = 2;
  copy.start_ns = kSecond + 200;
  store.add(copy);
  add_run(store, 2);
  store.add(comm_call(store, 1, 1));
  SECTION("a task") {
    add_comm_op(store, 1, kSecond + 100, 1);
    const json hardware = events(store, make_cann_hardware());
    REQUIRE(select_events(hardware, "t").size() == 1);
    CHECK(select_events(hardware, "t")[0]["ts"] == "1000000.100");
    CHECK(select_events(hardware, "t")[0]["bp"] == "e");
    REQUIRE(select_events(hardware, "f").size() == 1);
    CHECK(select_events(hardware, "f")[0]["ts"] == "1000000.200");
    const json communication = events(store, make_cann_communication());
    CHECK(select_events(communication, "t").size() == 1);
    CHECK(select_events(communication, "f").empty());
  }
  SECTION("a collective") {
    add_comm_op(store, 1, kSecond + 300, 1);
    CHECK(select_events(events(store, make_cann_hardware()), "t").size() == 2);
    CHECK(select_events(events(store, make_cann_communication()), "f").size() == 1);
  }
}

TEST_CASE("arrows end at tasks with an operator, at copies and at tasks launched by events") {
  CannStore store;
  add_call(store, 1, "launch", kNode, kSecond + 1, 5);
  add_call(store, 2, "aclrtStreamWaitEvent", kAcl, kSecond + 2, 5);
  add_call(store, 3, "aclrtOther", kAcl, kSecond + 3, 5);
  add_op(store, 1, "Add_1", "AI_CORE");
  for (std::int64_t id = 1; id <= 4; ++id) {
    TaskRow row = task(store, id, "EVENT_WAIT", kSecond + 100 * id, 10);
    if (id <= 3) row.api_id = id;
    if (id == 1 || id == 4) row.op_id = 1;
    store.add(row);
  }
  add_run(store, 4);
  const json ends = select_events(events(store, make_cann_hardware()), "f");
  // The fourth task was not launched by a call, so its arrow would have no start.
  REQUIRE(ends.size() == 2);
  CHECK(ends[0]["ts"] == "1000000.100");
  CHECK(ends[1]["ts"] == "1000000.200");
}

TEST_CASE("a task is drawn on its logic stream and shows its physical stream") {
  CannStore store;
  LogicStreamRow stream;
  stream.stream_id = 60;
  stream.logic_stream_id = 5;
  store.add(stream);
  store.add(task(store, 1, "EVENT_RECORD", kSecond + 10, 12'340));
  add_run(store, 1);
  const json all = events(store, make_cann_hardware());
  const json slice = select_events(all, "X")[0];
  CHECK(slice["tid"] == 5);
  CHECK(slice["dur"] == 12.34);
  CHECK(slice["name"] == "EVENT_RECORD");
  CHECK(slice["args"].dump() ==
        R"({"Batch Id":0,"Model Id":4294967295,"Physic Stream Id":60,"Subtask Id":4294967295,)"
        R"("Task Id":1,"Task Type":"EVENT_RECORD","connection_id":18446744073709551615})");
  CHECK(thread_name(all, 5) == "Stream 5");
  CHECK(thread_name(all, 60).empty());
}

TEST_CASE("a task has the type of its operator, and a copy has the type of the device") {
  CannStore store;
  add_op(store, 1, "Add_1", "AI_VECTOR_CORE");
  add_op(store, 2, "Odd_1", "N/A");
  TaskRow add = task(store, 1, "KERNEL_AIVEC", kSecond + 10, 10);
  add.op_id = 1;
  store.add(add);
  TaskRow odd = task(store, 2, "FFTS_PLUS", kSecond + 20, 10);
  odd.op_id = 2;
  store.add(odd);
  store.add(task(store, 3, "MEMCPY_ASYNC", kSecond + 30, 10));
  MemcpyTaskRow copy;
  copy.task_id = 3;
  copy.size_bytes = 25;
  copy.direction = 2;
  store.add(copy);
  store.add(task(store, 4, "MEMCPY_ASYNC", kSecond + 40, 0));
  add_run(store, 4);
  const json slices = select_events(events(store, make_cann_hardware()), "X");
  REQUIRE(slices.size() == 4);
  CHECK(slices[0]["name"] == "Add_1");
  CHECK(slices[0]["args"]["Task Type"] == "AI_VECTOR_CORE");
  CHECK(slices[1]["args"]["Task Type"] == "SDMA_SQE");
  CHECK(slices[2]["name"] == "MEMCPY_ASYNC");
  CHECK(slices[2]["args"]["Task Type"] == "SDMA_SQE");
  CHECK(slices[2]["args"]["size(B)"] == 25);
  CHECK(slices[2]["args"]["bandwidth(GB/s)"] == 2.5);
  CHECK(slices[2]["args"]["operation"] == "device to host");
  CHECK(slices[3]["args"]["size(B)"] == 0);
  CHECK(slices[3]["args"]["operation"] == "other");
}

TEST_CASE("tasks with sub tasks, of unknown type or from before the collection are not drawn") {
  CannStore store;
  store.add(task(store, 1, "before", kSecond - 20, 10));
  store.add(task(store, 2, "into", kSecond - 10, 10));
  TaskRow outer = task(store, 3, "outer", kSecond + 10, 10);
  store.add(outer);
  TaskRow sub = outer;
  sub.id = 4;
  sub.context = 0;
  sub.host_type_name_id = store.name("sub");
  store.add(sub);
  TaskRow other_batch = outer;
  other_batch.id = 5;
  other_batch.batch = 1;
  other_batch.host_type_name_id = store.name("other batch");
  store.add(other_batch);
  TaskRow copy = outer;
  copy.id = 6;
  copy.host_type_name_id = store.name("MEMCPY_ASYNC");
  store.add(copy);
  TaskRow unknown = task(store, 7, "unknown", kSecond + 30, 10);
  unknown.device_type_name_id = kNull;
  store.add(unknown);
  add_run(store, 7);
  CHECK(names(events(store, make_cann_hardware()), "X") ==
        std::vector<std::string>{"into", "sub", "other batch", "MEMCPY_ASYNC"});
}

TEST_CASE("a collective and its tasks are threads of their group, and tasks show their transfers") {
  CannStore store;
  store.add(task(store, 1, "MEMCPY_ASYNC", kSecond + 10, 2000));
  store.add(task(store, 2, "MEMCPY_ASYNC", kSecond + 20, 10));
  store.add(comm_call(store, 1, 1));
  CommCallRow silent = comm_call(store, 2, 1);
  silent.item_name_id = kNull;
  silent.op_relay = kNull;
  store.add(silent);
  store.add(CommTaskRow{.task_id = 1, .comm_call_id = 1});
  store.add(CommTaskRow{.task_id = 2, .comm_call_id = 2});
  add_comm_op(store, 1, kSecond + 10, 1);
  add_comm_op(store, 2, kSecond + 20, 2);
  store.add(CommGroupRow{1, 0, store.name("g"), 2});
  add_call(store, 1, "hcom", kNode, kSecond + 1, 5);
  const json all = events(store, make_cann_communication());
  const json slices = select_events(all, "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["tid"] == 3);
  CHECK(slices[0]["args"].dump() ==
        R"x({"bandwidth(GB/s)":1.5,"context id":4294967295,"data type":"FP32","dst rank":1,)x"
        R"x("duration estimated(us)":17.12,"link type":"HCCS","model id":4294967295,)x"
        R"x("notify_id":"18446744073709551615","size(Byte)":3000,"src rank":0,"stream id":60,)x"
        R"x("task id":1,"task type":"Memcpy","transport type":""})x");
  CHECK(slices[1]["tid"] == 0);
  CHECK(slices[1]["args"].dump() ==
        R"({"alg_type":"MESH","connection_id":1,"count":9,"data_type":"FP32",)"
        R"("model id":4294967295,"rank_size":8,"relay":"no","retry":"yes"})");
  CHECK(thread_name(all, 0) == "Group g Communication");
  CHECK(thread_name(all, 3) == "Plane 2");
}
