// A good capture, from raw bytes to every byte of every product.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

struct Face : Capture {
  Face() { add_face(job); }
};

}  // namespace

TEST_CASE("the products of a good capture have exactly the documented names") {
  const Face face;
  CHECK(face.run({"export", "timeline"}).exit_code == 0);
  CHECK(face.run({"export", "summary"}).exit_code == 0);
  CHECK(names_in(face.job.folder()) ==
        Lines{"data", "info.json.0", "log", "sqlite", "summary", "timeline"});
  CHECK(names_in(face.job.folder() / "log") == Lines{"msprof_import.log"});
  CHECK(names_in(face.job.folder() / "timeline") ==
        Lines{"acl_0.face.31.2.json", "task_time_0.face.31.2.json"});
  CHECK(names_in(face.job.folder() / "summary") ==
        Lines{"acl_statistic_0_31_0.csv", "op_statistic_0_31_0_0.csv",
              "op_summary_0.face.31.2.2.0.0.1000.500.csv"});
  CHECK(names_in(face.job.folder() / "sqlite") == Lines{"msprof.db"});
}

TEST_CASE("op_summary has a row for each layer with records, and the total row") {
  const Face face;
  REQUIRE(face.run({"export", "summary"}).exit_code == 0);
  // Means over two executions at 500 MHz; conv1 is 6001 / 2 / 500 = 6.001 us.
  CHECK(face.product("summary/op_summary_0.face.31.2.2.0.0.1000.500.csv") ==
        "Layer Id,Ori Layer Name,Layer Name,Layer Type,Time(us),Time Ratio,Mac Busy Ratio,"
        "Mac Ppen Ratio,Vec Busy Ratio,Vec Ppen Ratio,Dstr Ratio,Dtrans Ratio,DLD Ratio,WLD Ratio,"
        "Memory Bound,DDR Read(byte),DDR Write(byte),DDR Total(byte)\n"
        "0,conv1+bn1+relu1,conv1,Convolution,6.001,59.310,50.008,40.010,20.013,10.015,5.016,3.016,"
        "30.012,15.014,0.600,4097,2049,6145\n"
        "1,pool1,pool1,Pooling,2.500,24.708,0.000,0.000,72.000,48.000,24.000,1.200,40.000,0.000,"
        "0.833,2050,513,2562\n"
        "2,detect,detect,DetectionOutput,1.617,15.981,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,"
        "N/A\n"
        "-,-,-,-,10.118,100.000,35.302,28.244,35.302,21.186,10.599,2.482,32.949,10.599,0.933,6146,"
        "2561,8707\n");
}

TEST_CASE("op_statistic has the longest operator first, numbered by first execution") {
  const Face face;
  REQUIRE(face.run({"export", "summary", "--format", "csv"}).exit_code == 0);
  CHECK(face.product("summary/op_statistic_0_31_0_0.csv") ==
        "Task ID,Stream ID,OP Name,Task Type,Total Time Ratio(%),Total Time(us),Count,Avg(us),"
        "Max(us),Min(us)\n"
        "0,0,conv1+bn1+relu1,AA_CORE,59.310,12.002,2,6.001,6.002,6.000\n"
        "1,0,pool1,AA_CORE,24.708,5.000,2,2.500,3.000,2.000\n"
        "2,0,detect,AA_CPU,15.981,3.234,2,1.617,2.000,1.234\n");
}

TEST_CASE("the tables of the manual's example are written if named, and only those") {
  const Face face;
  const auto folder = face.job.folder() / "summary";
  REQUIRE(face.run({"export", "summary", "acl", "task_time"}).exit_code == 0);
  CHECK(names_in(folder) == Lines{"acl_0_31_0.csv", "task_time_0_31_0.csv"});
  const std::string calls = face.product("summary/acl_0_31_0.csv");
  const std::string operators = face.product("summary/task_time_0_31_0.csv");
  // A single table keeps the others.
  REQUIRE(face.run({"export", "summary", "acl_statistic", "op_statistic"}).exit_code == 0);
  CHECK(names_in(folder) == Lines{"acl_0_31_0.csv", "acl_statistic_0_31_0.csv",
                                  "op_statistic_0_31_0_0.csv", "task_time_0_31_0.csv"});
  CHECK(calls == face.product("summary/acl_statistic_0_31_0.csv"));
  CHECK(operators == face.product("summary/op_statistic_0_31_0_0.csv"));
  CHECK(calls.find("Total Time(us)") != std::string::npos);

  REQUIRE(face.run({"export", "summary", "acl", "--format", "json"}).exit_code == 0);
  CHECK(nlohmann::json::parse(face.product("summary/acl_0_31_0.table.json")).size() == 6);
  CHECK(face.run({"export", "summary", "acl", "--device", "1"}).exit_code == 2);
  const auto unknown = face.run({"export", "summary", "task_times"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err.find("acl, task_time") != std::string::npos);
}

TEST_CASE("import keeps its report in log/, and show writes no timeline") {
  const Face face;
  const auto shown = face.run({"show"});
  CHECK(shown.exit_code == 0);
  CHECK(names_in(face.job.folder()) == Lines{"data", "info.json.0", "log", "sqlite"});
  const std::string log = face.product("log/msprof_import.log");
  CHECK(log.find("acl_api        1 file") != std::string::npos);
  CHECK(log.find("\nverdict: complete without ") != std::string::npos);
  CHECK(shown.err.find(log) != std::string::npos);
}

TEST_CASE(
    "acl_statistic reads pid and tid from .done, and the thread from the record if it has one") {
  const Face face;
  REQUIRE(face.run({"export", "summary"}).exit_code == 0);
  // 51001 / 2 ns = 25.5005 us, rounded half away from zero. The total is 50056.501 us.
  CHECK(face.product("summary/acl_statistic_0_31_0.csv") ==
        "Process ID,Thread ID,Type,Name,Total Time Ratio(%),Total Time(us),Count,Avg(us),Max(us),"
        "Min(us)\n"
        "4711,4712,model,svp_acl_mdl_load_from_mem,99.887,50000.000,1,50000.000,50000.000,"
        "50000.000\n"
        "4711,9001,model,svp_acl_mdl_execute,0.102,51.001,2,25.501,26.001,25.000\n"
        "4711,4712,model,svp_acl_mdl_unload,0.006,3.000,1,3.000,3.000,3.000\n"
        "4711,4712,others,svp_acl_init,0.003,1.500,1,1.500,1.500,1.500\n"
        "4711,4712,runtime,svp_acl_rt_malloc,0.002,0.999,1,0.999,0.999,0.999\n"
        "4711,4712,N/A,api_999,0.000,0.001,1,0.001,0.001,0.001\n");
}

TEST_CASE("a JSON summary is an array of objects with the same digits as the CSV") {
  const Face face;
  REQUIRE(face.run({"export", "summary", "--format", "json"}).exit_code == 0);
  CHECK(names_in(face.job.folder() / "summary") ==
        Lines{"acl_statistic_0_31_0.table.json", "op_statistic_0_31_0_0.table.json",
              "op_summary_0.face.31.2.2.0.0.1000.500.table.json"});
  const std::string text = face.product("summary/op_statistic_0_31_0_0.table.json");
  const std::string detect =
      R"_({"Task ID":2,"Stream ID":0,"OP Name":"detect","Task Type":"AA_CPU",)_"
      R"_("Total Time Ratio(%)":15.981,"Total Time(us)":3.234,"Count":2,"Avg(us)":1.617,)_"
      R"_("Max(us)":2.000,"Min(us)":1.234})_";
  CHECK(text.find(detect) != std::string::npos);
  const auto operators = nlohmann::ordered_json::parse(text);
  REQUIRE(operators.size() == 3);
  CHECK(operators[2] == nlohmann::ordered_json::parse(detect));
  const auto layers = nlohmann::json::parse(
      face.product("summary/op_summary_0.face.31.2.2.0.0.1000.500.table.json"));
  REQUIRE(layers.size() == 4);
  CHECK(layers[2]["Mac Busy Ratio"] == "N/A");
  CHECK(layers[3]["Layer Id"] == "-");
  CHECK(layers[3]["DDR Total(byte)"] == 8707);
}

TEST_CASE("task_time is a chrome trace with one X event per layer execution, in start order") {
  const Face face;
  REQUIRE(face.run({"export", "timeline"}).exit_code == 0);
  const std::string text = face.product("timeline/task_time_0.face.31.2.json");
  const auto events = nlohmann::json::parse(text);
  Lines names;
  Lines complete;
  for (const auto& event : events) {
    const std::string thread = event.at("tid").dump();
    if (event.at("ph") == "M") {
      names.push_back(event.at("name").get<std::string>() + " " + thread + " " +
                      event.at("args").at("name").get<std::string>());
      continue;
    }
    REQUIRE(event.at("ph") == "X");
    CHECK(event.at("pid") == 0);
    CHECK(event.at("args").at("Stream Id") == 0);
    complete.push_back(event.at("name").get<std::string>() + " " + thread + " " +
                       event.at("args").at("Task Type").get<std::string>() + " " +
                       event.at("args").at("Task Id").dump());
  }
  CHECK(names ==
        Lines{"process_name 0 AA Core device 0", "thread_name 0 AA CORE", "thread_name 1 AA CPU"});
  CHECK(complete == Lines{"conv1+bn1+relu1 0 AA CORE 0", "pool1 0 AA CORE 1", "detect 1 AA CPU 2",
                          "conv1+bn1+relu1 0 AA CORE 3", "pool1 0 AA CORE 4", "detect 1 AA CPU 5"});
  // Absolute microseconds with three decimals; 3001 cycles at 500 MHz are 6.002 us.
  CHECK(text.find(R"("ts":2000000.000,"dur":6.002,)") != std::string::npos);
  CHECK(text.find(R"("ts":1000020.000,"dur":1.234,)") != std::string::npos);
}

TEST_CASE("the acl timeline has pid, tid, mode and ids of each call") {
  const Face face;
  REQUIRE(face.run({"export", "timeline"}).exit_code == 0);
  const std::string text = face.product("timeline/acl_0.face.31.2.json");
  const auto events = nlohmann::json::parse(text);
  Lines complete;
  for (const auto& event : events) {
    if (event.at("ph") != "X") continue;
    const auto& arguments = event.at("args");
    CHECK(event.at("pid") == arguments.at("Process_Id"));
    CHECK(event.at("tid") == arguments.at("Thread_Id"));
    complete.push_back(event.at("name").get<std::string>() + " " +
                       arguments.at("Mode").get<std::string>() + " " +
                       arguments.at("Process_Id").dump() + " " + arguments.at("Thread_Id").dump());
  }
  CHECK(complete ==
        Lines{"svp_acl_init others 4711 4712", "svp_acl_mdl_load_from_mem model 4711 4712",
              "svp_acl_rt_malloc runtime 4711 4712", "svp_acl_mdl_execute model 4711 9001",
              "svp_acl_mdl_execute model 4711 9001", "svp_acl_mdl_unload model 4711 4712",
              "api_999 N/A 4711 4712"});
  CHECK(text.find(R"("ts":500000.000,"dur":1.500,)") != std::string::npos);
  CHECK(text.find(R"("ts":2200000.000,"dur":0.001,)") != std::string::npos);
}

TEST_CASE("the store keeps cycles and nanoseconds, with one wide counter row per task") {
  const Face face;
  const auto verdict = face.import(0);
  CHECK(verdict.at("verdict") == "without");
  CHECK(verdict.at("dialect") == "svp");
  CHECK(verdict.at("kinds").at("aicore").at("records") == 4);
  CHECK(verdict.at("kinds").at("aicpu").at("records") == 2);
  CHECK(verdict.at("kinds").at("acl_api").at("records") == 7);
  CHECK(verdict.at("skipped").empty());
  CHECK(verdict.at("trailing_bytes") == 0);
  CHECK(verdict.at("missing_done").empty());
  CHECK(verdict.at("empty_products").empty());
  CHECK(verdict.at("not_read").empty());
  CHECK(face.rows("SELECT name.text, start_ns, duration_ns, execution, thread_id FROM task"
                  " JOIN op ON op.id = op_id JOIN name ON name.id = op.name_id"
                  " ORDER BY start_ns") ==
        Lines{"conv1|1000000000|6000|0|NULL", "pool1|1000010000|2000|0|NULL",
              "detect|1000020000|1234|0|77", "conv1|2000000000|6002|1|NULL",
              "pool1|2000010000|3000|1|NULL", "detect|2000020000|2000|1|77"});
  CHECK(face.rows("SELECT group_concat(name.text) FROM pmu_column JOIN name ON name.id ="
                  " counter_name_id ORDER BY column_number") ==
        Lines{"total_cycles,mac_busy_cycles,mac_ppen_cycles,vec_busy_cycles,vec_ppen_cycles,"
              "dstr_cycles,dtrans_cycles,dld_cycles,wld_cycles,ddr_read_bytes,ddr_write_bytes"});
  CHECK(face.rows("SELECT c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10 FROM task_pmu ORDER BY task_id") ==
        Lines{"3000|1500|1200|600|300|150|90|900|450|4096|2048",
              "1000|0|0|800|500|250|10|400|0|2048|512",
              "3001|1501|1201|601|301|151|91|901|451|4097|2049",
              "1500|0|0|1000|700|350|20|600|0|2051|513"});
  CHECK(face.rows("SELECT device_id, model_id, name.text, batch_num FROM model"
                  " JOIN name ON name.id = name_id") == Lines{"0|31|face|2"});
  // An unknown api id has no name; this does not make the data partial.
  CHECK(face.log() == Lines{"without|other|acl_api|data/acl_api.0.face.31|unknown api ids|1|NULL"});
}
