// Tables of CANN captures about the host, steps and memory: writes hand-made rows and checks the
// bytes.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "export/exporter.hpp"
#include "support/cann_store.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

void add_timed_call(CannStore& store, std::int64_t id, const char* name, std::int64_t level,
                    std::int64_t start_ns, std::int64_t duration_ns, std::int64_t thread = 7) {
  ApiCallRow call;
  call.id = id;
  call.thread_id = thread;
  call.name_id = store.name(name);
  call.start_ns = start_ns;
  call.end_ns = start_ns + duration_ns;
  call.level = level;
  store.add(call);
}

IterationRow iteration(std::int64_t id, std::int64_t number) {
  IterationRow row;
  row.id = id;
  row.device_id = 0;
  row.model_number = 1;
  row.number = number;
  row.start_ns = kSecond;
  row.end_ns = kSecond + 500;
  row.duration_ns = 500;
  row.fp_bp_ns = 0;
  row.refresh_ns = 0;
  row.data_aug_ns = 0;
  return row;
}

MemoryEventRow memory_event(std::int64_t id, std::int64_t device, std::int64_t size,
                            std::int64_t total) {
  MemoryEventRow row;
  row.id = id;
  row.device_id = device;
  row.size_bytes = size;
  row.total_allocated_bytes = total;
  row.total_reserved_bytes = 8'388'608 * std::int64_t{1024};
  row.time_ns = kSecond + id;
  row.vendor_time_ns = kSecond + id * 1000;
  return row;
}

}  // namespace

TEST_CASE(
    "api_statistic has a row for each name and level, sorted by name, with the variance of the "
    "calls") {
  CannStore store;
  add_timed_call(store, 1, "aclrtMalloc", 20000, kSecond + 10, 10'000);
  add_timed_call(store, 2, "launch", 10000, kSecond + 20, 10'010);
  add_timed_call(store, 3, "aclrtMalloc", 20000, kSecond + 30, 10'000);
  add_timed_call(store, 4, "launch", 5000, kSecond + 40, 1);
  add_timed_call(store, 5, "aclrtMalloc", 20000, kSecond + 50, 5'550);
  add_timed_call(store, 6, "odd, one", 6000, kSecond + 60, 0);
  CHECK(store.header("api_statistic") ==
        "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance");
  CHECK(store.rows("api_statistic") ==
        "host,acl,aclrtMalloc,25.55,3,8.517,5.55,10,4.401\n"
        "host,runtime,launch,0.001,1,0.001,0.001,0.001,0\n"
        "host,node,launch,10.01,1,10.01,10.01,10.01,0\n"
        "host,6000,\"odd, one\",0,1,0,0,0,0\n");
}

TEST_CASE("the variance of many calls is computed over all of them") {
  CannStore store;
  for (std::int64_t i = 0; i < 101; ++i)
    add_timed_call(store, i + 1, "call", 20000, kSecond + i, i * 1000);
  CHECK(store.rows("api_statistic") == "host,acl,call,5050,101,50,0,100,850\n");
}

TEST_CASE("calls that ended before the collection count only while a model is loaded") {
  CannStore store;
  add_timed_call(store, 1, "early", 20000, kSecond - 9000, 1000);
  add_timed_call(store, 2, "ModelLoad", 15000, kSecond - 7000, 5000);
  add_timed_call(store, 3, "inner", 10000, kSecond - 6000, 1000);
  add_timed_call(store, 4, "other thread", 10000, kSecond - 6000, 1000, 8);
  add_timed_call(store, 5, "too long", 10000, kSecond - 5000, 3001);
  add_timed_call(store, 6, "reaches in", 20000, kSecond - 1000, 1000);
  CHECK(store.rows("api_statistic") ==
        "host,model,ModelLoad,5,1,5,5,5,0\n"
        "host,node,inner,1,1,1,1,1,0\n"
        "host,acl,reaches in,1,1,1,1,1,0\n");
}

TEST_CASE("step_trace has an empty cell for each all-reduce missing in an iteration") {
  CannStore store;
  IterationRow first = iteration(1, 1);
  first.fp_start_ns = kSecond + 100;
  first.bp_end_ns = kSecond + 460;
  first.fp_bp_ns = 360;
  first.refresh_ns = 40;
  first.data_aug_ns = 1'234;
  store.add(first);
  store.add(iteration(2, 2));
  store.add(iteration(3, 3));
  store.add(IterationPartRow{1, 1, 0, kSecond + 200, kSecond + 240});
  store.add(IterationPartRow{2, 2, 1, kSecond + 1, kSecond + 2});
  store.add(IterationPartRow{3, 2, 0, kSecond + 300, kSecond + 400});
  store.add(IterationPartRow{4, 2, 0, kSecond + 410, kSecond + 420});
  CHECK(store.header("step_trace") ==
        "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to "
        "BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce "
        "Duration(us),Reduce Start(us),Reduce Duration(us)");
  CHECK(store.rows("step_trace") ==
        "0,1,1000000.100\t,1000000.460\t,1000000.500\t,0.500,0.360,0.040,1.234,1,1000000.200\t,"
        "0.040,N/A\n"
        "0,2,0.000\t,0.000\t,1000000.500\t,0.500,0.000,0.000,0.000,1,1000000.300\t,0.100,"
        "1000000.410\t,0.010\n"
        "0,3,0.000\t,0.000\t,1000000.500\t,0.500,0.000,0.000,0.000,1,N/A,N/A\n");
  const auto json = nlohmann::json::parse(
      store.files({"step_trace"}, SummaryFormat::json).at("step_trace_20240515160507.table.json"));
  REQUIRE(json.size() == 3);
  CHECK(json[0].size() == 14);
  CHECK(json[0].at("Reduce Start(us) 2") == "N/A");
  CHECK(json[1].at("Reduce Duration(us) 2") == 0.010);
  CHECK(json[2].at("Iteration End(us)") == "1000000.500");
}

TEST_CASE("fusion_op prints bytes as KB with all digits") {
  CannStore store;
  store.add(FusionOpRow{1, 5, store.name("modelA"), store.name("fused"), store.name("op1;op2"),
                        2048, 1024, 512, 100, 3684});
  store.add(FusionOpRow{2, 6, kNull, store.name("a,b"), kNull, 0, 0, 0, 0, 1});
  CHECK(store.header("fusion_op") ==
        "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),Memory Output(KB),"
        "Memory Weight(KB),Memory Workspace(KB),Memory Total(KB)");
  CHECK(store.rows("fusion_op") ==
        "host,modelA,5,fused,op1;op2,2.0,1.0,0.5,0.09765625,3.59765625\n"
        "host,,6,\"a,b\",,0.0,0.0,0.0,0.0,0.0009765625\n");
}

TEST_CASE("msprof_tx has a row for each range, and for each device that repeats a mark") {
  CannStore store;
  UserRangeRow range;
  range.id = 1;
  range.process_id = 1234;
  range.thread_id = 77;
  range.category = 3;
  range.event_type = 2;
  range.payload_type = 1;
  range.payload_value = -1;
  range.vendor_start_ns = kSecond + 2000;
  range.vendor_end_ns = kSecond + 3130;
  range.message_type = 0;
  range.message_name_id = store.name("step_1");
  range.domain_name_id = store.name("not shown");
  store.add(range);
  UserRangeRow mark = range;
  mark.id = 2;
  mark.is_extended = 1;
  mark.event_type = 3;
  mark.vendor_start_ns = mark.vendor_end_ns = kSecond + 1000;
  mark.message_name_id = store.name("HiWorld");
  mark.domain_name_id = store.name("domA");
  mark.mark_id = 9;
  store.add(mark);
  mark.id = 3;
  mark.vendor_start_ns = kSecond + 1500;
  mark.mark_id = 10;
  store.add(mark);
  store.add(DeviceMarkRow{1, 1, 9, 0, 0, kSecond + 5000, kSecond + 6000, 2, 3, 4});
  store.add(DeviceMarkRow{2, 0, 9, 0, 0, kSecond + 7000, kSecond + 7000, 2, 3, 4});
  CHECK(store.rows("msprof_tx") ==
        "0,1234,77,N/A,marker_ex,N/A,N/A,1000001.000\t,1000001.000\t,N/A,HiWorld,domA,1000007.000\t"
        ",1000007.000\t\n"
        "1,1234,77,N/A,marker_ex,N/A,N/A,1000001.000\t,1000001.000\t,N/A,HiWorld,domA,1000005.000\t"
        ",1000006.000\t\n"
        "host,1234,77,N/A,marker_ex,N/A,N/A,1000001.500\t,1000001.000\t,N/A,HiWorld,domA,N/A,N/A\n"
        "host,1234,77,3,start/end,1,18446744073709551615,1000002.000\t,1000003.130\t,0,step_1,N/A,"
        "N/A,N/A\n");
}

TEST_CASE("aicpu is sorted by device and time, without nodes that started before the collection") {
  CannStore store;
  const std::int64_t op = store.name("TopK");
  store.add(AicpuNodeRow{1, 1, 6, 5, kSecond + 1, 0, kSecond + 1, 47'958, 300, 50, 15, 48'360, op});
  store.add(AicpuNodeRow{2, 0, 6, 7, kSecond + 9, 0, kSecond + 9, 5'020, 300, 50, 15, 5'400, op});
  store.add(AicpuNodeRow{3, 0, 6, 8, kSecond, 0, kSecond, 1'000, 0, 0, 1, 0, kNull});
  store.add(AicpuNodeRow{4, 0, 6, 9, kSecond - 1, 0, kSecond + 5, 1'000, 0, 0, 1, 0, kNull});
  CHECK(store.header("aicpu") ==
        "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time("
        "us),Total_time(us),Stream ID,Task ID");
  CHECK(store.rows("aicpu") ==
        "0,1000000.000\t,N/A,0.0,0.0,1.0,1.0,0.0,6,8\n"
        "0,1000000.009\t,TopK,300.0,50.0,5.02,15.0,5.4,6,7\n"
        "1,1000000.001\t,TopK,300.0,50.0,47.958,15.0,48.36,6,5\n");
}

TEST_CASE("operator_memory and memory_record have each record once, with its device") {
  CannStore store;
  MemoryEventRow got = memory_event(1, 1, 12'444'160, 12'444'160);
  got.name_id = store.name("Mul");
  store.add(got);
  store.add(memory_event(2, 0, 64, 64));
  store.add(memory_event(3, 1, -12'444'160, 0));
  store.add(MemoryBlockRow{1, 1, 3, 9'430});
  store.add(MemoryBlockRow{2, 2, kNull, 0});
  CHECK(store.rows("operator_memory") ==
        "1,Mul,12152.5,1000001.000\t,9.43,12152.5,8388608.0,0.0,8388608.0,NPU:1\n"
        "0,,0.062,1000002.000\t,0.0,0.062,8388608.0,0.0,0.0,NPU:0\n");
  CHECK(store.rows("memory_record") ==
        "1,GE,1000001.000\t,12152.5,8388608.0,NPU:1\n"
        "0,GE,1000002.000\t,0.062,8388608.0,NPU:0\n"
        "1,GE,1000003.000\t,0.0,8388608.0,NPU:1\n");
}

TEST_CASE("a table without data has no file, and an empty capture has no files") {
  CannStore store;
  CHECK(store.files({}).empty());
  CHECK_FALSE(std::filesystem::exists(store.folder() / "out"));
  // Includes tables and layers; counters are listed only if they were recorded.
  CHECK(empty_products(store.db().database(), {}).size() == 19);
  CHECK(empty_products(store.db().database(), {"hbm", "lpm_freq"}).size() == 23);
}

TEST_CASE("file names contain the time of the collection, not of the export") {
  CannStore store;
  add_timed_call(store, 1, "call", 20000, kSecond, 10);
  store.add(memory_event(1, 0, 64, 64));
  const auto first = store.files({});
  REQUIRE(first.size() == 2);
  CHECK(first.count("api_statistic_20240515160507.csv") == 1);
  CHECK(first.count("memory_record_20240515160507.csv") == 1);
  CHECK(store.files({}) == first);
  CHECK(names_in(store.products()).size() == 2);
}

TEST_CASE("step_trace is refused where it would be far larger than its rows") {
  // A pair of cells for each of 4,000 all-reduces in each of 4,000 rows.
  constexpr std::int64_t kCount = 4'000;
  CannStore store;
  store.set_meta("generation", GENERATE("", "cann5"));
  store.add(DeviceRow());
  for (std::int64_t id = 1; id <= kCount; ++id) store.add(iteration(id, id));
  for (std::int64_t id = 1; id <= kCount; ++id)
    store.add(IterationPartRow{id, 1, 0, kSecond + id, kSecond + id + 1});
  try {
    store.files({"step_trace"});
    FAIL("the table was written");
  } catch (const Error& error) {
    CHECK(error.code() == Exit::partial_data);
    CHECK_THAT(error.what(), Catch::Contains("more all-reduces than the others"));
  }
}
