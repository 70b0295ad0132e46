// The unified database of a PROF folder: its tables and columns, and rows calculated by hand.
// Sources: cann_host.md 2.6, cann_device.md 25.
#include <time.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <random>

#include "golden/cann_fixture.hpp"
#include "support/eventually.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

constexpr const char* kDbName = "msprof_20231114221320.db";
// Thread 100 of process 4321.
const std::string kGlobalTid = std::to_string((std::uint64_t{4321} << 32) + kThread);

// Column types; columns not listed are INTEGER.
const std::map<std::string, std::string> kTables = {
    {"STRING_IDS", "id PK,value TEXT"},
    {"SESSION_TIME_INFO", "startTimeNs,endTimeNs"},
    {"NPU_INFO", "id,name TEXT"},
    {"RANK_DEVICE_MAP", "rankId,deviceId"},
    {"HOST_INFO", "hostUid TEXT,hostName TEXT"},
    {"META_DATA", "name TEXT,value TEXT"},
    {"CANN_API", "startNs,endNs,type,globalTid,connectionId PK,name"},
    {"TASK",
     "startNs,endNs,deviceId,connectionId,globalTaskId,globalPid,taskType,contextId,streamId,"
     "taskId,modelId"},
    {"COMPUTE_TASK_INFO",
     "name,globalTaskId PK,blockNum,mixBlockNum,taskType,opType,inputFormats,inputDataTypes,"
     "inputShapes,outputFormats,outputDataTypes,outputShapes,attrInfo,opState,hf32Eligible,"
     "gridDim,blockDim"},
    {"COMMUNICATION_TASK_INFO",
     "name,globalTaskId,taskType,planeId,groupName,notifyId,rdmaType,srcRank,dstRank,"
     "transportType,size,dataType,linkType,opId,isMaster,bandwidth NUMERIC"},
    {"COMMUNICATION_OP",
     "opName,startNs,endNs,connectionId,groupName,opId PK,relay,retry,dataType,algType,"
     "count NUMERIC,opType,deviceId,rankSize"},
    {"MSTX_EVENTS",
     "startNs,endNs,eventType,rangeId,category,message,globalTid,endGlobalTid,domainId,"
     "connectionId"},
    {"MEMCPY_INFO", "globalTaskId NUMERIC,size NUMERIC,memcpyOperation NUMERIC"},
    {"NPU_OP_MEM",
     "operatorName,addr,type,size,timestampNs,globalTid,totalAllocate NUMERIC,"
     "totalReserve NUMERIC,component,deviceId"},
    {"TASK_PMU_INFO", "globalTaskId,name,value NUMERIC"},
    {"AICORE_FREQ", "deviceId,timestampNs NUMERIC,freq,dieId NUMERIC"},
    {"OVERLAP_ANALYSIS", "id PK,deviceId,startNs NUMERIC,endNs NUMERIC,type"},
    {"ENUM_API_TYPE", "id PK,name TEXT"},
    {"ENUM_MSTX_EVENT_TYPE", "id PK,name TEXT"},
    {"ENUM_MEMCPY_OPERATION", "id PK,name TEXT"},
    {"ENUM_OVERLAP_ANALYSIS_TYPE", "id PK,name TEXT"},
    {"ENUM_HCCL_DATA_TYPE", "id PK,name TEXT"},
    {"ENUM_HCCL_LINK_TYPE", "id PK,name TEXT"},
    {"ENUM_HCCL_TRANSPORT_TYPE", "id PK,name TEXT"},
    {"ENUM_HCCL_RDMA_TYPE", "id PK,name TEXT"},
    {"ENUM_MODULE", "id PK,name TEXT"}};

// A launch with counters, a collective of a copy and a wait, a copy, a mark, memory.
struct DbRun : ProfCapture {
  DbRun() {
    prof.set_hash(kGroupHash, "group_a");
    OpKind add = {"add", "Add", Core::aiv};
    add.tensors = {{0, 2, 1, {4, 8}}, {1, 2, 0, {8}}};
    ProfScene::Launch how;
    how.pmu = TaskPmu{3000, {8, 7, 6, 5, 4, 3, 2, 1}, {}};
    scene.launch(add, {kThread, 1000, 3000}, device_task(1, 5000, 6500), how);
    Collective op;
    op.name = "hcom_a";
    op.group = "group_a";
    op.steps = {{"Memcpy", kMemcpyAsync, {9, 0, 10'000, 11'000, 0}, 4096, 0, true},
                {"Notify_Wait", kNotifyWait, {9, 1, 11'200, 12'200, 0}, 0, 0, true}};
    scene.collective(op, kThread, 4000);
    scene.copy({kThread, 8000, 9000}, device_task(2, 20'000, 22'000), 8192, 1);
    scene.mark(kThread, 9500, 9900, "load");
    scene.memory(kThread, 1500, "add", 4096, 512, 512);
    scene.memory(kThread, 2500, "add", 4096, -512, 0);
    prof.finish();
    const RunResult result = run({"export", "db", "-q"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  fs::path db() const { return prof.folder() / kDbName; }
  Lines read(const std::string& sql) const { return query(db(), sql); }
};

// SQL for a time column in ns after the start of the collection.
std::string ns(const std::string& column) {
  return "(" + column + " - 1700000000000000000)";
}

std::string text(const std::string& column) {
  return "(SELECT value FROM STRING_IDS WHERE id = " + column + ")";
}

}  // namespace

TEST_CASE("the database has the tables and columns of the published schema") {
  const DbRun run;
  Lines expected;
  for (const auto& [table, columns] : kTables) {
    expected.push_back(table);
    Lines found = run.read(
        "SELECT name || CASE WHEN pk THEN ' PK' WHEN type = 'INTEGER' THEN '' "
        "ELSE ' ' || type END FROM pragma_table_info('" +
        table + "') ORDER BY cid");
    std::string joined;
    for (const std::string& column : found) joined += (joined.empty() ? "" : ",") + column;
    INFO(table);
    CHECK(joined == columns);
    CHECK(run.read("SELECT count(*) FROM pragma_table_info('" + table +
                   "') WHERE pk AND type <> 'INTEGER'") == Lines{"0"});
    CHECK(run.read("SELECT count(*) > 0 FROM " + table) == Lines{"1"});
  }
  CHECK(run.read("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") == expected);
  CHECK(run.read("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name") ==
        Lines{"CommunicationTaskIndex", "TaskIndex"});
  CHECK(run.read("PRAGMA integrity_check") == Lines{"ok"});
}

TEST_CASE("the database contains what was profiled, when and where") {
  const DbRun run;
  CHECK(run.read("SELECT * FROM SESSION_TIME_INFO") ==
        Lines{"1700000000000000000|1700000010000000000"});
  CHECK(run.read("SELECT * FROM NPU_INFO") == Lines{"0|Ascend910B"});
  CHECK(run.read("SELECT * FROM RANK_DEVICE_MAP") == Lines{"-1|0"});
  CHECK(run.read("SELECT * FROM HOST_INFO") == Lines{"1234567890|worker-1"});
  CHECK(run.read("SELECT * FROM META_DATA ORDER BY name") ==
        Lines{"SCHEMA_VERSION|1.2.0", "SCHEMA_VERSION_MAJOR|1", "SCHEMA_VERSION_MICRO|0",
              "SCHEMA_VERSION_MINOR|2"});
  CHECK(run.read("SELECT * FROM ENUM_API_TYPE ORDER BY id") ==
        Lines{"5000|runtime", "5500|communication", "10000|node", "15000|model", "20000|acl"});
  // Every referenced text exists.
  CHECK(run.read("SELECT count(*) FROM CANN_API WHERE name NOT IN (SELECT id FROM STRING_IDS)") ==
        Lines{"0"});
}

TEST_CASE("every string is referenced, and every reference has its string") {
  DbRun run;
  run.prof.set_hash(77'777, "nobody names this");
  run.prof.set_type(kAcl, 777, "nor this call");
  run.prof.finish();
  const RunResult result = run.run({"export", "db", "-q"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  // Text columns of the published schema; the other columns are numbers.
  const std::map<std::string, Lines> columns = {
      {"CANN_API", {"name"}},
      {"TASK", {"taskType"}},
      {"COMPUTE_TASK_INFO",
       {"name", "taskType", "opType", "inputFormats", "inputDataTypes", "inputShapes",
        "outputFormats", "outputDataTypes", "outputShapes", "attrInfo", "opState", "hf32Eligible",
        "gridDim", "blockDim"}},
      {"COMMUNICATION_TASK_INFO", {"name", "taskType", "groupName"}},
      {"COMMUNICATION_OP", {"opName", "groupName", "algType", "opType"}},
      {"MSTX_EVENTS", {"message", "domainId"}},
      {"NPU_OP_MEM", {"operatorName", "type", "component"}},
      {"TASK_PMU_INFO", {"name"}}};
  std::string references;
  for (const auto& [table, names] : columns) {
    for (const std::string& name : names) {
      references +=
          (references.empty() ? "SELECT " : " UNION SELECT ") + name + " AS id FROM " + table;
    }
  }
  CHECK(run.read("SELECT count(*) > 20 FROM STRING_IDS") == Lines{"1"});
  CHECK(run.read("SELECT id, value FROM STRING_IDS WHERE id NOT IN (" + references +
                 ") ORDER BY id") == Lines{});
  CHECK(run.read("SELECT id FROM (" + references +
                 ") WHERE id NOT IN (SELECT id FROM STRING_IDS) ORDER BY id") == Lines{});
}

TEST_CASE("calls of unnamed levels have the number of the level, which the database explains") {
  ProfCapture run;
  run.scene.call(6000, 1, {kThread, 1000, 2000});
  run.scene.call(30000, 2, {kThread, 3000, 4000});
  run.scene.call(kAcl, kAclMalloc, {kThread, 5000, 6000});
  run.prof.finish();
  REQUIRE(run.run({"export", "all", "-q"}).exit_code == 0);
  const auto read = [&](const std::string& sql) { return query(run.prof.folder() / kDbName, sql); };
  CHECK(read("SELECT type, e.name FROM CANN_API JOIN ENUM_API_TYPE AS e ON e.id = type"
             " ORDER BY startNs") == Lines{"6000|6000", "65535|other", "20000|acl"});
  CHECK(run.table("api_statistic").cells({"Level", "API Name"}) ==
        Lines{"6000|1", "30000|2", "acl|aclrtMalloc"});
  const RunResult asked = run.run(
      {"query", "SELECT level FROM v_api_calls ORDER BY start_ns", "--format", "csv", "-q"});
  CHECK(asked.out == "level\n6000\n30000\nacl\n");
}

TEST_CASE("a launch is three calls, a task and an operator") {
  const DbRun run;
  CHECK(run.read("SELECT " + ns("startNs") + ", " + ns("endNs") + ", type, globalTid, " +
                 text("name") +
                 " FROM CANN_API WHERE startNs < 1700000000000004000 "
                 "ORDER BY startNs") ==
        Lines{"1000|3000|20000|" + kGlobalTid + "|aclnnAdd",
              "1100|2900|10000|" + kGlobalTid + "|launch",
              "1200|2800|5000|" + kGlobalTid + "|LaunchKernelWithHandle"});
  CHECK(run.read("SELECT " + ns("t.startNs") + ", " + ns("t.endNs") +
                 ", t.deviceId, t.globalPid, " + text("t.taskType") +
                 ", t.contextId, t.streamId, t.taskId, t.modelId, " + text("a.name") +
                 " FROM TASK t LEFT JOIN CANN_API a USING(connectionId) ORDER BY t.startNs") ==
        Lines{"5000|6500|0|4321|KERNEL_AIVEC|4294967295|3|1|4294967295|launch",
              "10000|11000|0|4321|MEMCPY_ASYNC|4294967295|9|0|4294967295|hcom_allReduce_",
              "11200|12200|0|4321|NOTIFY_WAIT|4294967295|9|1|4294967295|hcom_allReduce_",
              "20000|22000|0|4321|MEMCPY_ASYNC|4294967295|3|2|4294967295|aclrtMemcpyAsync"});
  CHECK(run.read("SELECT t.taskId, " + text("c.name") + ", c.blockNum, c.mixBlockNum, " +
                 text("c.taskType") + ", " + text("c.opType") + ", " + text("c.inputFormats") +
                 ", " + text("c.inputDataTypes") + ", " + text("c.inputShapes") + ", " +
                 text("c.outputFormats") + ", " + text("c.outputDataTypes") + ", " +
                 text("c.outputShapes") + ", " + text("c.gridDim") +
                 " FROM COMPUTE_TASK_INFO c JOIN TASK t USING(globalTaskId)") ==
        Lines{R"(1|add|20|0|AI_VECTOR_CORE|Add|ND|FLOAT16|"4,8"|ND|FLOAT|"8"|N/A)"});
}

TEST_CASE("each counter of a task is a row, and the core type that did not run is 0") {
  const DbRun run;
  CHECK(run.read("SELECT " + text("name") + ", value FROM TASK_PMU_INFO WHERE " + text("name") +
                 " LIKE '%_total_cycles' ORDER BY 1") ==
        Lines{"aic_total_cycles|0", "aiv_total_cycles|3000"});
  CHECK(run.read("SELECT DISTINCT t.taskId FROM TASK_PMU_INFO JOIN TASK t USING(globalTaskId)") ==
        Lines{"1"});
  CHECK(run.read("SELECT count(*) FROM TASK_PMU_INFO WHERE " + text("name") +
                 " LIKE 'aic_%' AND value <> 0") == Lines{"0"});
}

TEST_CASE("a collective is an operator and its tasks") {
  const DbRun run;
  CHECK(run.read("SELECT " + text("o.opName") + ", " + ns("o.startNs") + ", " + ns("o.endNs") +
                 ", " + text("a.name") + ", " + text("o.groupName") + ", relay, retry, dataType, " +
                 text("algType") + ", count, " + text("opType") +
                 ", deviceId, rankSize FROM COMMUNICATION_OP o JOIN CANN_API a "
                 "USING(connectionId)") ==
        Lines{"hcom_a_026_0_1|10000|12200|hcom_allReduce_|group_a|0|0|4|MESH-RING|1024|"
              "hcom_allReduce_|0|8"});
  CHECK(run.read("SELECT t.taskId, " + text("c.name") + ", " + text("c.taskType") + ", planeId, " +
                 text("c.groupName") +
                 ", notifyId, rdmaType, srcRank, dstRank, transportType, size, c.dataType, "
                 "linkType, isMaster, bandwidth, " +
                 text("o.opName") +
                 " FROM COMMUNICATION_TASK_INFO c JOIN TASK t USING(globalTaskId) "
                 "JOIN COMMUNICATION_OP o USING(opId) ORDER BY t.startNs") ==
        Lines{"0|hcom_a_026_0_1|Memcpy|0|group_a|-1|255|0|1|0|4096|4|1|1|4096000000|"
              "hcom_a_026_0_1",
              "1|hcom_a_026_0_1|Notify_Wait|0|group_a|-1|255|0|1|0|0|4|1|1|0|hcom_a_026_0_1"});
}

TEST_CASE("copies, marks, memory, frequency and overlap have rows") {
  const DbRun run;
  CHECK(run.read("SELECT t.streamId, m.size, o.name FROM MEMCPY_INFO m JOIN TASK t "
                 "USING(globalTaskId) JOIN ENUM_MEMCPY_OPERATION o ON o.id = m.memcpyOperation "
                 "ORDER BY 1") == Lines{"3|8192|host to device", "9|0|other"});
  CHECK(run.read("SELECT " + ns("startNs") + ", " + ns("endNs") + ", eventType, rangeId, " +
                 "category, " + text("message") + ", globalTid, endGlobalTid, " + text("domainId") +
                 ", connectionId FROM MSTX_EVENTS") ==
        Lines{"9500|9900|2|4294967295|0|load|" + kGlobalTid + "|" + kGlobalTid + "||4000000000"});
  CHECK(run.read("SELECT " + text("operatorName") + ", addr, " + text("type") + ", size, " +
                 ns("timestampNs") + ", globalTid, totalAllocate, totalReserve, " +
                 text("component") + ", deviceId FROM NPU_OP_MEM ORDER BY timestampNs") ==
        Lines{"add|4096|allocate|512|1500|" + kGlobalTid + "|512|8589934592|GE|0",
              "add|4096|release|512|2500|" + kGlobalTid + "|0|8589934592|GE|0"});
  CHECK(run.read("SELECT DISTINCT deviceId, " + ns("timestampNs") +
                 ", freq, dieId FROM AICORE_FREQ ORDER BY 2") ==
        Lines{"0|0|1000|-1", "0|10000000000|1000|-1"});
  // Computing 5000-6500; a collective 10000-12200; the copy ends at 22000.
  CHECK(run.read("SELECT v.id, deviceId, " + ns("startNs") + ", " + ns("endNs") +
                 ", e.name FROM OVERLAP_ANALYSIS v JOIN ENUM_OVERLAP_ANALYSIS_TYPE e "
                 "ON e.id = v.type ORDER BY v.id") ==
        Lines{"0|0|5000|6500|COMPUTE", "1|0|10000|12200|COMMUNICATION",
              "2|0|10000|12200|COMM_NOT_OVERLAP_COMP", "3|0|6500|10000|FREE",
              "4|0|12200|22000|FREE"});
}

TEST_CASE("a mark with a device time is a separate task") {
  ProfCapture run;
  run.scene.launch({"add", "Add", Core::aiv}, {kThread, 1000, 3000}, device_task(1, 5000, 6500));
  TxMark mark;
  mark.is_ex = true;
  mark.thread = kThread;
  mark.event = 3;
  mark.domain = run.prof.hash("domain_a");
  mark.mark = 5;
  mark.begin = mark.end = run.prof.setup().host_at(10'000);
  mark.message = "here";
  run.prof.host(mark);
  run.scene.step(0, 15'000, 11, 5, 4294967295, 3);
  run.prof.finish();
  REQUIRE(run.run({"export", "db", "-q"}).exit_code == 0);
  const auto read = [&](const std::string& sql) { return query(run.prof.folder() / kDbName, sql); };
  CHECK(read("SELECT " + ns("startNs") + ", " + ns("endNs") +
             ", connectionId, contextId, streamId, taskId, modelId FROM TASK WHERE " +
             text("taskType") + " = 'MsTx'") ==
        Lines{"15000|15000|4000000006|4294967295|3|60000|4294967295"});
  CHECK(read("SELECT eventType, category, " + text("message") + ", " + text("domainId") +
             ", connectionId FROM MSTX_EVENTS") == Lines{"3|4294967295|here|domain_a|4000000006"});
}

TEST_CASE("the same run gives the same bytes of the database, repeatedly and in another folder") {
  const DbRun run;
  const std::string bytes = read_file(run.db());
  const fs::path out = run.folder / "out";
  REQUIRE(run.run({"export", "db", "-q", "--output", out.string()}).exit_code == 0);
  CHECK((read_file(out / kDbName) == bytes));
  REQUIRE(run.run({"export", "db", "-q"}).exit_code == 0);
  CHECK((read_file(run.db()) == bytes));
}

TEST_CASE("a killed export of the database leaves either no file or the complete file") {
  const TempFolder folder;
  RunShape shape;
  shape.tasks = 10'000;
  const MadeRun run = make_run(folder.path(), {}, shape);
  const Lines words = {"export", "db", "-q", "-dir", run.folder.string()};
  REQUIRE(run_msprof({"import", "-q", "-dir", run.folder.string()}).exit_code == 0);
  const Lines before = names_in(run.folder);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_msprof(words).exit_code == 0);
  const auto duration = std::chrono::steady_clock::now() - begin;
  const std::string whole = read_file(run.folder / kDbName);
  fs::remove(run.folder / kDbName);

  std::mt19937 random(20251121);
  std::uniform_real_distribution<double> fraction(0.05, 0.8);
  int killed = 0;
  const auto is_being_written = [&] {
    const Lines names = names_in(run.folder);
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.starts_with('.'); });
  };
  for (int round = 0; round < 8; ++round) {
    RunningProgram program(msprof_path(), words);
    // The test needs a kill at a random moment; no event is awaited.
    const auto delay =
        std::chrono::duration_cast<std::chrono::nanoseconds>(duration * fraction(random));
    const timespec pause = {delay.count() / 1'000'000'000, delay.count() % 1'000'000'000};
    // The first round always kills in the middle, however long the first export took.
    if (round == 0)
      eventually([&] { return is_being_written() || program.has_ended(); });
    else
      ::nanosleep(&pause, nullptr);
    program.send(SIGKILL);
    killed += program.wait().signal == SIGKILL;
    // On a busy machine the kill may come after the export is complete.
    if (!fs::exists(run.folder / kDbName)) continue;
    CHECK((read_file(run.folder / kDbName) == whole));
    fs::remove(run.folder / kDbName);
  }
  CHECK(killed > 0);
  REQUIRE(run_msprof(words).exit_code == 0);
  CHECK((read_file(run.folder / kDbName) == whole));
  Lines after = before;
  after.insert(std::lower_bound(after.begin(), after.end(), kDbName), kDbName);
  CHECK(names_in(run.folder) == after);
}
