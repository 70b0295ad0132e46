// Tables of CANN captures about tasks and collectives: writes hand-made rows and checks the bytes.
#include <catch2/catch.hpp>

#include "export/exporter.hpp"
#include "support/cann_store.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

struct Place {
  std::int64_t device = 0;
  std::int64_t stream = 2;
  std::int64_t task = 0;
  std::int64_t context = kNull;
};

// Tasks must be added in the order of their ids.
class TaskStore : public CannStore {
 public:
  explicit TaskStore(std::int64_t platform = 5) {
    for (std::int64_t device : {0, 1}) {
      DeviceRow row;
      row.id = device;
      row.platform = platform;
      add(row);
    }
  }

  TaskRow task(const Place& place, std::int64_t start_ns, std::int64_t duration_ns) {
    TaskRow row;
    row.id = ++tasks_;
    row.start_ns = start_ns;
    row.duration_ns = duration_ns;
    row.device_id = place.device;
    row.stream_id = place.stream;
    row.task_number = place.task;
    row.batch = 0;
    row.context = place.context;
    row.device_type_name_id = name("AIV_SQE");
    row.host_type_name_id = name("KERNEL_AIVEC");
    return row;
  }

  std::int64_t op(std::string_view op_name, std::string_view type, std::string_view unit) {
    OpRow row;
    row.id = ++ops_;
    row.name_id = name(op_name);
    row.type_name_id = name(type);
    row.unit_name_id = name(unit);
    row.block_num = 20;
    row.mix_block_num = 0;
    row.is_dynamic = 1;
    row.hf32_eligible = 0;
    row.input_shapes_name_id = name("8,1;128,4096");
    row.input_types_name_id = name("FLOAT16;INT64");
    row.input_formats_name_id = name("ND;NCHW");
    add(row);
    return row.id;
  }

  void add_op_task(const Place& place, std::int64_t start_ns, std::int64_t duration_ns,
                   std::int64_t op_id) {
    TaskRow row = task(place, start_ns, duration_ns);
    row.op_id = op_id;
    add(row);
  }

 private:
  std::int64_t tasks_ = 0;
  std::int64_t ops_ = 0;
};

}  // namespace

TEST_CASE("op_summary prints executions with their operators and the waiting time of the device") {
  TaskStore store;
  const auto add = store.op("aclnnAdd", "Add", "AI_VECTOR_CORE");
  const auto mul = store.op("aclnn,Mul", "Mul", "MIX_AIC");
  store.add_op_task({0, 2, 7}, kSecond + 1000, 500, add);
  store.add_op_task({0, 2, 8}, kSecond + 1700, 300, add);
  store.add_op_task({0, 3, 8, 0}, kSecond + 1800, 20, mul);
  store.add_op_task({1, 2, 7}, kSecond + 100, 10, add);
  CHECK(store.header("op_summary") ==
        "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start "
        "Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input "
        "Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
        "Context ID");
  const std::string tail = "20,0,NO,\"\"\"8,1;128,4096\"\"\",FLOAT16;INT64,ND;NCHW,N/A,N/A,N/A,";
  CHECK(store.rows("op_summary") ==
        "0,4294967295,7,2,aclnnAdd,Add,dynamic,AI_VECTOR_CORE,1000001.000\t,0.500,0," + tail +
            "N/A\n"
            "0,4294967295,8,2,aclnnAdd,Add,dynamic,AI_VECTOR_CORE,1000001.700\t,0.300,0.200000," +
            tail +
            "N/A\n"
            "0,4294967295,8,3,\"aclnn,Mul\",Mul,dynamic,MIX_AIC,1000001.800\t,0.020,0.000000," +
            tail +
            "0\n"
            "1,4294967295,7,2,aclnnAdd,Add,dynamic,AI_VECTOR_CORE,1000000.100\t,0.010,0.000000," +
            tail + "N/A\n");
}

TEST_CASE("op_summary has a row for each collective between the executions") {
  TaskStore store;
  const auto add = store.op("aclnnAdd", "Add", "AI_VECTOR_CORE");
  store.add_op_task({}, kSecond + 1000, 500, add);
  store.add_op_task({}, kSecond + 3000, 500, add);
  CommCallRow call;
  call.id = 1;
  call.op_type_name_id = store.name("hcom_allReduce_");
  store.add(call);
  CommOpRow op;
  op.id = 1;
  op.device_id = 0;
  op.name_id = store.name("hcom_allReduce__101_1_1_026_0_1");
  op.start_ns = kSecond + 1600;
  op.end_ns = kSecond + 2600;
  op.first_comm_call_id = 1;
  store.add(op);
  const std::string rows = store.rows("op_summary");
  const std::string collective =
      "0,4294967295,N/A,N/A,hcom_allReduce__101_1_1_026_0_1,hcom_allReduce_,N/A,COMMUNICATION,"
      "1000001.600\t,1.000,0.100000,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n";
  const auto at = rows.find(collective);
  REQUIRE(at != std::string::npos);
  CHECK(rows.find("1000001.000\t,0.500,0,") < at);
  // The wait of the next execution starts at the end of the collective.
  CHECK(rows.find("1000003.000\t,0.500,0.400000,") > at);
}

TEST_CASE("op_summary omits tasks without operator and tasks that ended before the collection") {
  TaskStore store;
  for (const char* unit : {"WRITE_BACK", "INVALID", "HCCL_AI_CPU", "COMMUNICATION"}) {
    store.add_op_task({}, kSecond + 1000, 500, store.op(unit, "x", unit));
  }
  store.add_op_task({0, 2, 9}, kSecond + 2000, 5, store.op("AivKernel", "x", "COMMUNICATION"));
  const auto add = store.op("aclnnAdd", "Add", "AI_VECTOR_CORE");
  store.add_op_task({1, 2, 10}, kSecond - 100, 99, add);
  store.add_op_task({1, 2, 11}, kSecond - 100, 100, add);
  TaskRow unknown = store.task({1, 2, 12}, kSecond, 1);
  unknown.device_type_name_id = kNull;
  unknown.op_id = add;
  store.add(unknown);
  const std::string rows = store.rows("op_summary");
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 2);
  CHECK(rows.find("0,4294967295,9,2,AivKernel,") == 0);
  CHECK(rows.find("\n1,4294967295,11,2,aclnnAdd,") != std::string::npos);
}

TEST_CASE("chips without a STARS scheduler have no sub tasks in op_summary") {
  TaskStore store(4);
  store.add_op_task({0, 2, 7}, kSecond, 500, store.op("aclnnAdd", "Add", "AI_CORE"));
  const std::string header = store.header("op_summary");
  CHECK(header.find("Mix Block Num") == std::string::npos);
  CHECK(header.find("Context ID") == std::string::npos);
  CHECK(store.rows("op_summary") ==
        "0,4294967295,7,2,aclnnAdd,Add,dynamic,AI_CORE,1000000.000\t,0.500,0,20,NO,\"\"\"8,1;128,"
        "4096\"\"\",FLOAT16;INT64,ND;NCHW,N/A,N/A,N/A\n");
}

TEST_CASE("op_summary as JSON has the same cells, including shared ones") {
  TaskStore store;
  const auto add = store.op("aclnnAdd", "Add", "AI_VECTOR_CORE");
  store.add_op_task({0, 2, 7}, kSecond, 500, add);
  store.add_op_task({0, 2, 8}, kSecond + 600, 500, add);
  const std::string json =
      store.files({"op_summary"}, SummaryFormat::json).at("op_summary_20240515160507.table.json");
  const auto row = [](const char* task, const char* start, const char* wait) {
    return std::string("{\"Device_id\":0,\"Model ID\":4294967295,\"Task ID\":") + task +
           ",\"Stream ID\":2,\"Op Name\":\"aclnnAdd\",\"OP Type\":\"Add\",\"OP State\":\"dynamic\","
           "\"Task Type\":\"AI_VECTOR_CORE\",\"Task Start Time(us)\":\"" +
           start + "\",\"Task Duration(us)\":0.500,\"Task Wait Time(us)\":" + wait +
           ",\"Block Num\":20,\"Mix Block Num\":0,\"HF32 Eligible\":\"NO\",\"Input Shapes\":"
           "\"\\\"8,1;128,4096\\\"\",\"Input Data Types\":\"FLOAT16;INT64\",\"Input Formats\":"
           "\"ND;NCHW\",\"Output Shapes\":\"N/A\",\"Output Data Types\":\"N/A\",\"Output "
           "Formats\":\"N/A\",\"Context ID\":\"N/A\"}";
  };
  CHECK(json == "[\n" + row("7", "1000000.000", "0") + ",\n" + row("8", "1000000.600", "0.100000") +
                    "\n]\n");
}

TEST_CASE("op_statistic sorts by total over all devices, with ratios of each device") {
  TaskStore store;
  const auto add = store.op("add_1", "Add", "AI_VECTOR_CORE");
  const auto add2 = store.op("add_2", "Add", "AI_VECTOR_CORE");
  const auto mul = store.op("mul", "MatMulV2", "AI_CORE");
  const auto other = store.op("hcom", "x", "COMMUNICATION");
  store.add_op_task({}, kSecond, 7777, add);  // at the very start: not counted
  store.add_op_task({}, kSecond + 1, 1001, add);
  store.add_op_task({}, kSecond + 2, 1000, add2);
  store.add_op_task({}, kSecond + 3, 6000, mul);
  store.add_op_task({}, kSecond + 4, 9000, other);
  store.add_op_task({1}, kSecond + 5, 4000, mul);
  CHECK(store.rows("op_statistic") ==
        "0,MatMulV2,AI_CORE,1,6,6,6,6,74.991\n"
        "1,MatMulV2,AI_CORE,1,4,4,4,4,100\n"
        "0,Add,AI_VECTOR_CORE,2,2.001,1,1,1.001,25.009\n");
}

TEST_CASE("communication_statistic has the rounded mean of the calls") {
  TaskStore store;
  const auto type = store.name("hcom_allReduce_");
  store.add(CommSpanRow{1, 0, type, kSecond, 1001});
  store.add(CommSpanRow{2, 0, type, kSecond, 1000});
  store.add(CommSpanRow{3, 1, store.name("hcom_send_"), kSecond, 12'500});
  CHECK(store.rows("communication_statistic") ==
        "1,hcom_send_,1,12.5,12.5,12.5,12.5,100\n"
        "0,hcom_allReduce_,2,2.001,1,1.001,1.001,100\n");
}

TEST_CASE("task_time is sorted by start over all devices and names tasks by kernel and type") {
  TaskStore store;
  const auto mul = store.op("aclnnMul", "Mul", "AI_CORE");
  TaskRow kernel = store.task({0, 2, 1}, kSecond + 20, 5);
  kernel.op_id = mul;
  kernel.kernel_name_id = store.name("mul_kernel");
  store.add(kernel);
  store.add(store.task({0, 2, 2}, kSecond + 40, 5));  // the host has no kernel for this task
  TaskRow alone = store.task({0, 2, 3}, kSecond + 60, 5);
  alone.host_type_name_id = kNull;
  alone.op_id = mul;
  store.add(alone);
  TaskRow fused = store.task({1, 2, 4}, kSecond + 10, 5);
  fused.host_type_name_id = store.name("FFTS_PLUS");
  store.add(fused);
  TaskRow early = store.task({1, 2, 5}, kSecond + 30, 5);
  early.device_type_name_id = kNull;
  store.add(early);
  store.add(TaskRunRow{1, kNull, 1, 3, 0});
  store.add(TaskRunRow{2, kNull, 4, 5, 1});
  CHECK(store.header("task_time") ==
        "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
        "task_stop(us)");
  CHECK(store.rows("task_time") ==
        "1,N/A,AIV_SQE,2,4,0.005,1000000.010\t,1000000.015\t\n"
        "0,mul_kernel,AI_CORE,2,1,0.005,1000000.020\t,1000000.025\t\n"
        "0,N/A,KERNEL_AIVEC,2,2,0.005,1000000.040\t,1000000.045\t\n"
        "0,aclnnMul,AI_CORE,2,3,0.005,1000000.060\t,1000000.065\t\n");
}

TEST_CASE("task_time shows context 0 for its task unless another context comes first") {
  TaskStore store;
  store.add(store.task({0, 2, 1}, kSecond + 10, 5));  // outer task of a mix
  store.add(store.task({0, 2, 1, 0}, kSecond + 11, 4));
  store.add(store.task({0, 2, 2}, kSecond + 20, 5));  // outer task of three sub-tasks
  store.add(store.task({0, 2, 2, 1}, kSecond + 21, 1));
  store.add(store.task({0, 2, 2, 0}, kSecond + 22, 1));
  store.add(store.task({1, 2, 1}, kSecond + 30, 5));  // same task number on another device
  store.add(TaskRunRow{1, kNull, 1, 5, 0});
  store.add(TaskRunRow{2, kNull, 6, 6, 1});
  CHECK(store.rows("task_time") ==
        "0,N/A,KERNEL_AIVEC,2,1,0.004,1000000.011\t,1000000.015\t\n"
        "0,N/A,KERNEL_AIVEC,2,2,0.005,1000000.020\t,1000000.025\t\n"
        "0,N/A,KERNEL_AIVEC,2,2,0.001,1000000.021\t,1000000.022\t\n"
        "0,N/A,KERNEL_AIVEC,2,2,0.001,1000000.022\t,1000000.023\t\n"
        "1,N/A,KERNEL_AIVEC,2,1,0.005,1000000.030\t,1000000.035\t\n");
}

TEST_CASE("a CSV of more than a million rows is split into slices, a JSON file is not") {
  CannStore store;
  constexpr std::int64_t kRows = 1'000'001;
  for (std::int64_t i = 1; i <= kRows; ++i) {
    MemoryEventRow row;
    row.id = i;
    row.device_id = 0;
    row.vendor_time_ns = kSecond + i;
    row.total_allocated_bytes = 0;
    row.total_reserved_bytes = 0;
    store.add(row);
  }
  const auto files = store.files({"memory_record"});
  REQUIRE(files.size() == 2);
  const std::string header =
      "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device\n";
  const std::string& first = files.at("memory_record_slice_0_20240515160507.csv");
  CHECK(std::count(first.begin(), first.end(), '\n') == 1'000'001);
  CHECK(first.compare(0, header.size(), header) == 0);
  CHECK(files.at("memory_record_slice_1_20240515160507.csv") ==
        header + "0,GE,1001000.001\t,0.0,0.0,NPU:0\n");
  CHECK(names_in(store.products()).size() == 2);
  CHECK(store.files({"memory_record"}, SummaryFormat::json).size() == 1);
}

TEST_CASE("an unknown task or operator in a foreign store is an error message, not a crash") {
  TaskStore store;
  store.op("aclnnAdd", "Add", "AI_CORE");
  store.add_op_task({}, kSecond + 1, 1, 99);
  for (const char* table : {"op_summary", "op_statistic"}) {
    try {
      store.files({table});
      FAIL("an operator that is not there was printed");
    } catch (const Error& error) {
      CHECK(error.code() == Exit::partial_data);
      CHECK(std::string(error.what()).find("`msprof import`") != std::string::npos);
    }
  }
  CHECK(names_in(store.products()).empty());
}
