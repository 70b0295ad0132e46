// The unified database: writes hand-made store rows and checks the tables. Source of the rules:
// cann_host.md 2.6 and cann_device.md 25.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "export/exporter.hpp"
#include "support/cann_store.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class UnifiedScene : public CannStore {
 public:
  UnifiedScene() {
    set_meta("host.pid", "2");
    set_meta("host.uid", "77");
    set_meta("host.hostname", "here");
    kernel_ = name("KERNEL_AIVEC");
    queue_ = name("AIV_SQE");
  }

  TaskRow task(std::int64_t id, std::int64_t number, std::int64_t op = kNull) const {
    TaskRow row;
    row.id = id;
    row.start_ns = kSecond + id * 100;
    row.duration_ns = 10;
    row.device_id = 0;
    row.stream_id = 5;
    row.task_number = number;
    row.batch = 0;
    row.op_id = op;
    row.host_type_name_id = kernel_;
    row.device_type_name_id = queue_;
    return row;
  }
  OpRow op(std::int64_t id, std::string_view op_name) {
    OpRow row;
    row.id = id;
    row.name_id = name(op_name);
    row.type_name_id = name("Add");
    row.unit_name_id = name("AI_VECTOR_CORE");
    row.block_num = 4;
    row.is_dynamic = 1;
    row.input_shapes_name_id = name("8,1;128");
    return row;
  }

  fs::path out() const { return folder() / "prof"; }
  std::vector<ExportedFile> write() { return run_export_jobs(db(), plan_unified_db(db(), out())); }
  // Returns the rows of a query on the unified database, which the first query writes.
  Texts rows(const std::string& sql) {
    if (!is_written_) REQUIRE(write().size() == 1);
    is_written_ = true;
    return query(out() / "msprof_20240515160507.db", sql);
  }

 private:
  std::int64_t kernel_ = 0;
  std::int64_t queue_ = 0;
  bool is_written_ = false;
};

// Counters of one task: cycles and one event of a 910B's vector cores.
void add_counters(UnifiedScene& scene, std::int64_t task_id, std::int64_t cycles,
                  std::int64_t event) {
  TaskPmuRow row;
  row.task_id = task_id;
  row.c[0] = cycles;
  row.c[1] = event;
  scene.add(row);
}

void add_vector_metrics(UnifiedScene& scene) {
  DeviceRow device;
  device.id = 0;
  device.platform = 5;
  device.frequency_hz = 1'000'000'000;
  device.core_count = 24;
  device.vector_core_count = 48;
  device.vector_core_metrics_name_id = scene.name("PipeUtilization");
  scene.add(device);
  scene.add(PmuColumnRow{0, scene.name("aiv_total_cycles")});
  scene.add(PmuColumnRow{1, scene.name("aiv_0x8")});
  scene.add(PmuColumnRow{2, scene.name("aiv_0xa")});
}

std::int64_t add_comm_task(UnifiedScene& scene, std::int64_t id, std::int64_t op_id,
                           std::int64_t rdma, std::int64_t size) {
  scene.add(scene.task(id, id));
  CommCallRow call;
  call.id = id;
  call.item_name_id = scene.name("Memcpy");
  call.plane_id = 1;
  call.rdma_type = rdma;
  call.size_bytes = size;
  scene.add(call);
  scene.add(CommTaskRow{id, id});
  scene.add(CommOpTaskRow{id, op_id});
  return id;
}

}  // namespace

TEST_CASE("Tasks of a repeated graph share an id and one description") {
  UnifiedScene scene;
  scene.add(scene.op(1, "add_1"));
  scene.add(scene.op(2, "add_2"));
  scene.add(scene.task(1, 7, 1));
  scene.add(scene.task(2, 8, 2));
  scene.add(scene.task(3, 7, 1));
  CHECK(scene.rows("SELECT startNs - 1000000000, globalTaskId FROM TASK ORDER BY 1") ==
        Texts{"100|1", "200|2", "300|1"});
  CHECK(scene.rows("SELECT globalTaskId, value FROM COMPUTE_TASK_INFO AS c JOIN STRING_IDS ON"
                   " STRING_IDS.id = c.name ORDER BY 1") == Texts{"1|add_1", "2|add_2"});
}

TEST_CASE("A task with a shared key and no operator leaves the description to the next task") {
  UnifiedScene scene;
  scene.add(scene.op(1, "add_1"));
  scene.add(scene.task(1, 7));
  scene.add(scene.task(2, 7, 1));
  CHECK(scene.rows("SELECT globalTaskId FROM COMPUTE_TASK_INFO") == Texts{"1"});
}

TEST_CASE("Sub tasks have separate ids") {
  UnifiedScene scene;
  TaskRow sub = scene.task(2, 7);
  sub.context = 0;
  scene.add(scene.task(1, 7));
  scene.add(sub);
  CHECK(scene.rows("SELECT globalTaskId, contextId FROM TASK ORDER BY startNs") ==
        Texts{"1|4294967295", "2|0"});
}

TEST_CASE("Every task of a thousand that run twice shares its id") {
  UnifiedScene scene;
  constexpr std::int64_t kTasks = 1000;
  for (std::int64_t id = 1; id <= 2 * kTasks; ++id) scene.add(scene.task(id, (id - 1) % kTasks));
  CHECK(scene.rows("SELECT count(*), count(DISTINCT globalTaskId), max(globalTaskId),"
                   " sum(globalTaskId <> taskId + 1) FROM TASK") == Texts{"2000|1000|1000|0"});
}

TEST_CASE("Operators have quoted shapes, and texts for numbers in the store") {
  UnifiedScene scene;
  scene.add(scene.op(1, "add_1"));
  scene.add(scene.task(1, 7, 1));
  CHECK(scene.rows("SELECT s.value, t.value, h.value, f.value, blockNum FROM COMPUTE_TASK_INFO AS c"
                   " JOIN STRING_IDS AS s ON s.id = inputShapes JOIN STRING_IDS AS t ON t.id ="
                   " opState JOIN STRING_IDS AS h ON h.id = hf32Eligible JOIN STRING_IDS AS f ON"
                   " f.id = inputFormats") == Texts{"\"8,1;128\"|dynamic|N/A|N/A|4"});
}

TEST_CASE("Kernels that drive a collective are described separately") {
  UnifiedScene scene;
  scene.add(scene.op(1, "allreduceAicpuKernel"));
  scene.add(scene.op(2, "add"));
  scene.add(scene.task(1, 7, 1));
  scene.add(scene.task(2, 8, 2));
  CHECK(scene.rows("SELECT globalTaskId FROM COMMUNICATION_SCHEDULE_TASK_INFO") == Texts{"1"});
  CHECK(scene.rows("SELECT globalTaskId FROM COMPUTE_TASK_INFO") == Texts{"2"});
}

TEST_CASE("Core metrics are doubles, zeros are integers, and no metric is omitted") {
  UnifiedScene scene;
  add_vector_metrics(scene);
  scene.add(scene.op(1, "add"));
  scene.add(scene.task(1, 7, 1));
  add_counters(scene, 1, 3000, 1000);
  CHECK(scene.rows("SELECT STRING_IDS.value, typeof(p.value), p.value FROM TASK_PMU_INFO AS p JOIN"
                   " STRING_IDS ON STRING_IDS.id = name ORDER BY p.rowid") ==
        Texts{"aiv_total_time|integer|750", "aiv_total_cycles|integer|3000",
              "aiv_vec_time|integer|250", "aiv_vec_ratio|real|0.333333333333333",
              "aiv_mac_time|integer|0", "aiv_mac_ratio|integer|0"});
}

TEST_CASE("Counters without a task have no metrics") {
  UnifiedScene scene;
  add_vector_metrics(scene);
  scene.add(scene.task(2, 7));
  add_counters(scene, 1, 3000, 1000);
  CHECK(scene.rows("SELECT count(*) FROM sqlite_master WHERE name = 'TASK_PMU_INFO'") ==
        Texts{"0"});
}

TEST_CASE("Work that ended before the collection or never ran on a device is not a task") {
  UnifiedScene scene;
  TaskRow early = scene.task(1, 7);
  early.start_ns = kSecond - 20;
  TaskRow across = scene.task(2, 8);
  across.start_ns = kSecond - 5;
  TaskRow unknown = scene.task(3, 9);
  unknown.device_type_name_id = kNull;
  for (const TaskRow& row : {early, across, unknown}) scene.add(row);
  CHECK(scene.rows("SELECT taskId, connectionId, modelId FROM TASK") == Texts{"8|-1|4294967295"});
}

TEST_CASE("The device part of a mark is a task with a separate id") {
  UnifiedScene scene;
  scene.add(scene.task(9, 7));
  DeviceMarkRow mark;
  mark.id = 1;
  mark.device_id = 0;
  mark.mark_id = 3;
  mark.start_ns = mark.end_ns = kSecond + 5000;
  mark.stream_id = 5;
  mark.task_number = 7;
  scene.add(mark);
  CHECK(scene.rows("SELECT globalTaskId, connectionId, value FROM TASK JOIN STRING_IDS ON id ="
                   " taskType ORDER BY startNs") ==
        Texts{"9|-1|KERNEL_AIVEC", "10|4000000004|MsTx"});
}

TEST_CASE("Named call levels other than the five known ones are 65535") {
  UnifiedScene scene;
  std::int64_t id = 0;
  for (const std::int64_t level : {20000, 6000, 30000, 25000, 20500}) {
    ApiCallRow call;
    call.id = ++id;
    call.thread_id = 7;
    call.name_id = scene.name("call");
    call.start_ns = call.end_ns = kSecond + id;
    call.level = level;
    scene.add(call);
  }
  CHECK(scene.rows("SELECT type FROM CANN_API ORDER BY connectionId") ==
        Texts{"20000", "6000", "65535", "65535", "65535"});
  CHECK(scene.rows("SELECT DISTINCT globalTid FROM CANN_API") == Texts{"8589934599"});
}

TEST_CASE("Consecutive payloads share the rate until the task that ends them") {
  UnifiedScene scene;
  CommOpRow op;
  op.id = 1;
  op.name_id = scene.name("hcom_send__1");
  op.device_id = 0;
  op.start_ns = kSecond;
  op.end_ns = kSecond + 1000;
  scene.add(op);
  add_comm_task(scene, 1, 1, 1, 40);  // two payloads, then the closing task: 3 + 0 + 2 - 2
  add_comm_task(scene, 2, 1, 1, 65);
  add_comm_task(scene, 3, 1, 255, 5);
  add_comm_task(scene, 4, 1, 255, 10);
  CHECK(scene.rows("SELECT bandwidth, opId FROM COMMUNICATION_TASK_INFO ORDER BY globalTaskId") ==
        Texts{"338709677.419355|1", "338709677.419355|1", "500000000|1", "1000000000|1"});
}

TEST_CASE("A collective's task without its op has -1, one without a description 65534") {
  UnifiedScene scene;
  scene.add(scene.task(1, 7));
  CommCallRow call;
  call.id = 1;
  scene.add(call);
  scene.add(CommTaskRow{1, 1});
  CHECK(scene.rows("SELECT opId, planeId, notifyId, rdmaType, size, bandwidth FROM"
                   " COMMUNICATION_TASK_INFO") == Texts{"-1|4294967295|-1|65534|-1|-100000000"});
}

TEST_CASE("Enum tables always exist, other tables only if they have rows") {
  UnifiedScene scene;
  scene.add(scene.task(1, 7));
  CHECK(scene.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1") ==
        Texts{"ENUM_API_TYPE", "ENUM_HCCL_DATA_TYPE", "ENUM_HCCL_LINK_TYPE", "ENUM_HCCL_RDMA_TYPE",
              "ENUM_HCCL_TRANSPORT_TYPE", "ENUM_MEMCPY_OPERATION", "ENUM_MODULE",
              "ENUM_MSTX_EVENT_TYPE", "ENUM_OVERLAP_ANALYSIS_TYPE", "HOST_INFO", "META_DATA",
              "NPU_INFO", "STRING_IDS", "TASK"});
  CHECK(scene.rows("SELECT * FROM ENUM_API_TYPE ORDER BY id") ==
        Texts{"5000|runtime", "5500|communication", "10000|node", "15000|model", "20000|acl"});
  CHECK(scene.rows("SELECT * FROM ENUM_HCCL_RDMA_TYPE ORDER BY id") ==
        Texts{"0|RDMA_SEND_NOTIFY", "1|RDMA_SEND_PAYLOAD", "255|RESERVED", "65534|N/A",
              "65535|INVALID_TYPE"});
  CHECK(scene.rows("SELECT count(*), min(id), max(id) FROM ENUM_MODULE") == Texts{"65|0|77"});
  CHECK(scene.rows("SELECT * FROM HOST_INFO") == Texts{"77|here"});
  CHECK(scene.rows("SELECT * FROM NPU_INFO") == Texts{"-1|UNKNOWN"});
}

TEST_CASE("A text has one string id: the store's, if there is one") {
  UnifiedScene scene;
  const std::int64_t missing = scene.name("N/A");
  scene.add(scene.op(1, "add"));
  scene.add(scene.task(1, 7, 1));
  CHECK(scene.rows("SELECT value, count(*) FROM STRING_IDS GROUP BY 1 HAVING count(*) > 1") ==
        Texts{});
  CHECK(scene.rows("SELECT id FROM STRING_IDS WHERE value = 'N/A'") ==
        Texts{std::to_string(missing)});
}

TEST_CASE("The same store gives the same bytes") {
  UnifiedScene scene;
  add_vector_metrics(scene);
  scene.add(scene.op(1, "add"));
  scene.add(scene.task(1, 7, 1));
  scene.add(scene.task(2, 7, 1));
  add_counters(scene, 1, 3000, 1000);
  scene.write();
  const std::string first = read_file(scene.out() / "msprof_20240515160507.db");
  scene.write();
  CHECK(first == read_file(scene.out() / "msprof_20240515160507.db"));
}

TEST_CASE("Captures without rows and board captures have no unified database") {
  UnifiedScene empty;
  CHECK(plan_unified_db(empty.db(), empty.out()).empty());
  UnifiedScene board;
  board.add(board.task(1, 7));
  board.set_meta("dialect", "svp");
  CHECK(plan_unified_db(board.db(), board.out()).empty());
}

TEST_CASE("Dangling ids are an error and leave no file") {
  UnifiedScene scene;
  TaskRow task = scene.task(1, 7);
  SECTION("an operator") {
    task.op_id = 5;
  }
  SECTION("a name") {
    task.host_type_name_id = 99;
  }
  SECTION("a name below all") {
    task.host_type_name_id = -3;
  }
  SECTION("the name of an operator") {
    OpRow op = scene.op(1, "add");
    op.input_shapes_name_id = 99;
    scene.add(op);
    task.op_id = 1;
  }
  SECTION("an end time out of range") {
    task.start_ns = INT64_MAX;
  }
  scene.add(task);
  CHECK_THROWS_WITH(scene.write(), Catch::Contains("is damaged"));
  CHECK(names_in(scene.out()).empty());
}

TEST_CASE("An invalid time in the store is not used in the file name") {
  UnifiedScene scene;
  scene.set_meta("time_stamp", "../../x");
  scene.add(scene.task(1, 7));
  REQUIRE(scene.write().size() == 1);
  CHECK(names_in(scene.out()) == Texts{"msprof.db"});
}
