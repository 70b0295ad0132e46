// Several models, nets, executions and captures in one folder.
#include <catch2/catch.hpp>
#include <map>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

constexpr const char* kSummaryHead =
    "Layer Id,Ori Layer Name,Layer Name,Layer Type,Time(us),Time Ratio,Mac Busy Ratio,"
    "Mac Ppen Ratio,Vec Busy Ratio,Vec Ppen Ratio,Dstr Ratio,Dtrans Ratio,DLD Ratio,WLD Ratio,"
    "Memory Bound,DDR Read(byte),DDR Write(byte),DDR Total(byte)\n";
constexpr const char* kStatisticHead =
    "Task ID,Stream ID,OP Name,Task Type,Total Time Ratio(%),Total Time(us),Count,Avg(us),Max(us),"
    "Min(us)\n";
const std::string kIdle = "0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,N/A,0,0,0\n";

LayerLine core_layer(std::int64_t id, const std::string& name, std::int64_t net = 0) {
  return {id, net, "Conv", "AA_CORE", name, ""};
}

}  // namespace

TEST_CASE("two models have separate products") {
  Capture capture;
  capture.job.info_json("1000").net_info("cat", 1, {.batch_num = "4"}).net_info("dog", 2);
  capture.job.layer_info("cat", 1, {core_layer(0, "c")}).layer_info("dog", 2, {core_layer(0, "d")});
  capture.job.data(DataName{.model = "cat", .batch = 4}, aicore_file({layer_record(0, 10, 100)}));
  capture.job.data(DataName{.model = "dog", .model_id = 2},
                   aicore_file({layer_record(0, 20, 700)}));
  capture.job.data("acl_api.0.cat.1", acl_api_file({{3, 0, 5, 1005}}), {.pid = 1, .tid = 2});
  capture.job.data("acl_api.0.dog.2", acl_api_file({{3, 0, 6, 2006}}), {.pid = 1, .tid = 2});
  REQUIRE(capture.run({"export", "summary"}).exit_code == 0);
  REQUIRE(capture.run({"export", "timeline"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"acl_statistic_0_1_0.csv", "acl_statistic_0_2_0.csv", "op_statistic_0_1_0_0.csv",
              "op_statistic_0_2_0_0.csv", "op_summary_0.cat.1.4.1.0.NA.1000.csv",
              "op_summary_0.dog.2.1.1.0.NA.1000.csv"});
  CHECK(names_in(capture.job.folder() / "timeline") ==
        Lines{"acl_0.cat.1.4.json", "acl_0.dog.2.1.json", "task_time_0.cat.1.4.json",
              "task_time_0.dog.2.1.json"});
  CHECK(capture.product("summary/op_statistic_0_2_0_0.csv") ==
        std::string(kStatisticHead) + "0,0,d,AA_CORE,100.000,0.700,1,0.700,0.700,0.700\n");
}

TEST_CASE("the nets of one model and capture share their files, in net and layer order") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  // The second net's layers come first in the file and share numbers with the first net's.
  capture.job.layer_info(
      "net", 1, {core_layer(0, "head", 1), core_layer(0, "stem", 0), core_layer(1, "body", 0)});
  capture.job.data(DataName{.net = 1}, aicore_file({layer_record(0, 3000, 2000)}));
  capture.job.data(DataName{.net = 0},
                   aicore_file({layer_record(0, 1000, 1000), layer_record(1, 2000, 5000)}));
  REQUIRE(capture.run({"export", "summary"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_statistic_0_1_0_0.csv", "op_summary_0.net.1.1.1.0.NA.1000.csv"});
  CHECK(capture.product("summary/op_summary_0.net.1.1.1.0.NA.1000.csv") ==
        std::string(kSummaryHead) + "0,stem,stem,Conv,1.000,12.500," + kIdle +
            "1,body,body,Conv,5.000,62.500," + kIdle + "0,head,head,Conv,2.000,25.000," + kIdle +
            "-,-,-,-,8.000,100.000," + kIdle);
}

TEST_CASE("the captures of an interval have separate files, numbered from 0 per model") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1, {.batch_num = "100"}).net_info("other", 2);
  for (const std::int64_t current : {400, 0, 1000, 200}) {
    const auto start = static_cast<std::uint64_t>(1000 + current);
    capture.job.data(DataName{.batch = 100, .pics = 100, .current = current},
                     aicore_file({layer_record(0, start, start)}));
  }
  capture.job.data(DataName{.model = "other", .model_id = 2, .current = 50},
                   aicore_file({layer_record(0, 1, 1)}));
  REQUIRE(capture.run({"export", "summary", "op_statistic"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_statistic_0_1_0_0.csv", "op_statistic_0_1_1000_3.csv",
              "op_statistic_0_1_200_1.csv", "op_statistic_0_1_400_2.csv",
              "op_statistic_0_2_50_0.csv"});
  CHECK(capture.product("summary/op_statistic_0_1_400_2.csv") ==
        std::string(kStatisticHead) + "0,0,layer_0,AA_CORE,100.000,1.400,1,1.400,1.400,1.400\n");
  // One timeline per model and batch, with its captures one after the other.
  REQUIRE(capture.run({"export", "timeline"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "timeline") ==
        Lines{"task_time_0.net.1.100.json", "task_time_0.other.2.1.json"});
  Lines events;
  for (const auto& event :
       nlohmann::json::parse(capture.product("timeline/task_time_0.net.1.100.json"))) {
    if (event.at("ph") == "X") {
      events.push_back(event.at("args").at("Task Id").dump() + " " + event.at("ts").dump());
    }
  }
  CHECK(events == Lines{"0 1.0", "1 1.2", "2 1.4", "3 2.0"});
}

TEST_CASE("many executions give means, sums, maximum and minimum") {
  Capture capture;
  capture.job.info_json("840").net_info("net", 1).layer_info("net", 1, {core_layer(0, "a")});
  std::vector<AicoreRecord> records;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    auto record = layer_record(0, 10'000 * k, 1000 + k, k);
    record.mac_busy = 500;
    record.dld = 250;
    record.ddr_read = k;
    record.ddr_write = 2 * k;
    records.push_back(record);
  }
  capture.job.data(DataName{}, aicore_file(records));
  REQUIRE(capture.run({"export", "summary"}).exit_code == 0);
  // Total 1,499,500 cycles: mean 1499.5 / 840 = 1.785119 us; 500,000 of them are 33.344 %.
  const std::string row =
      "1.785,100.000,33.344,0.000,0.000,0.000,0.000,0.000,16.672,0.000,0.500,"
      "500,999,1499\n";
  CHECK(capture.product("summary/op_summary_0.net.1.1.1.0.NA.840.csv") ==
        std::string(kSummaryHead) + "0,a,a,Conv," + row + "-,-,-,-," + row);
  // 1,499,500 / 840 = 1785.119048 us; 1999 / 840 = 2.379762; 1000 / 840 = 1.190476.
  CHECK(capture.product("summary/op_statistic_0_1_0_0.csv") ==
        std::string(kStatisticHead) + "0,0,a,AA_CORE,100.000,1785.119,1000,1.785,2.380,1.190\n");
}

TEST_CASE(
    "layers with the same name are one operator, ties are sorted by name, groups by first start") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  capture.job.layer_info("net", 1,
                         {core_layer(0, "relu"),
                          core_layer(1, "zoom"),
                          core_layer(2, "relu"),
                          core_layer(3, "add"),
                          {4, 0, "X", "AA_CPU", "relu", ""}});
  capture.job.data(DataName{},
                   aicore_file({layer_record(1, 1000, 600), layer_record(0, 2000, 100),
                                layer_record(2, 3000, 500), layer_record(3, 500, 600)}));
  capture.job.data(DataName{.type = "aicpu"}, aicpu_file({{4, 9, 100, 300, 0}}));
  REQUIRE(capture.run({"export", "summary", "op_statistic"}).exit_code == 0);
  CHECK(capture.product("summary/op_statistic_0_1_0_0.csv") ==
        std::string(kStatisticHead) +
            "1,0,add,AA_CORE,30.000,0.600,1,0.600,0.600,0.600\n"
            "3,0,relu,AA_CORE,30.000,0.600,2,0.300,0.500,0.100\n"
            "2,0,zoom,AA_CORE,30.000,0.600,1,0.600,0.600,0.600\n"
            "0,0,relu,AA_CPU,10.000,0.200,1,0.200,0.200,0.200\n");
}

TEST_CASE("calls with equal total time are sorted by name, then by thread") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  capture.job.data(
      "acl_api.0.net.1",
      acl_api_file(
          {{5, 0, 10, 1010}, {3, 9, 20, 520}, {3, 9, 30, 530}, {3, 8, 40, 1040}, {1, 0, 50, 1050}}),
      {.pid = 1, .tid = 2});
  REQUIRE(capture.run({"export", "summary", "acl_statistic"}).exit_code == 0);
  CHECK(capture.product("summary/acl_statistic_0_1_0.csv") ==
        "Process ID,Thread ID,Type,Name,Total Time Ratio(%),Total Time(us),Count,Avg(us),Max(us),"
        "Min(us)\n"
        "1,8,model,svp_acl_mdl_execute,25.000,1.000,1,1.000,1.000,1.000\n"
        "1,9,model,svp_acl_mdl_execute,25.000,1.000,2,0.500,0.500,0.500\n"
        "1,2,model,svp_acl_mdl_load_from_mem,25.000,1.000,1,1.000,1.000,1.000\n"
        "1,2,model,svp_acl_mdl_unload,25.000,1.000,1,1.000,1.000,1.000\n");
}

TEST_CASE("layers without records are omitted, records without a layer are called layer_<id>") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  capture.job.layer_info("net", 1, {core_layer(0, "unused"), core_layer(5, "used")});
  capture.job.data(DataName{},
                   aicore_file({layer_record(9, 1000, 300), layer_record(5, 2000, 100)}));
  CHECK(capture.import(0).at("verdict") == "without");
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 0);
  CHECK(capture.product("summary/op_summary_0.net.1.1.1.0.NA.1000.csv") ==
        std::string(kSummaryHead) + "5,used,used,Conv,0.100,25.000," + kIdle +
            "9,layer_9,layer_9,N/A,0.300,75.000," + kIdle + "-,-,-,-,0.400,100.000," + kIdle);
}

TEST_CASE("a run only on the CPU has times but no unit loads") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  capture.job.layer_info("net", 1, {{0, 0, "Detect", "AA_CPU", "d", ""}});
  capture.job.data(DataName{.type = "aicpu"},
                   aicpu_file({{0, 1, 1000, 1500, 0}, {0, 1, 2000, 2999, 1}}));
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 0);
  // (500 + 999) / 2 = 749.5 ns: half away from zero.
  const std::string none = "N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n";
  CHECK(capture.product("summary/op_summary_0.net.1.1.1.0.NA.1000.csv") ==
        std::string(kSummaryHead) + "0,d,d,Detect,0.750,100.000," + none +
            "-,-,-,-,0.750,100.000," + none);
}

TEST_CASE("the total row sums unrounded times") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  // Means of 0.5 ns each: every row rounds up, but the sum is 1.5 ns.
  std::vector<AicoreRecord> records;
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    records.push_back(layer_record(layer, 10 + layer, 0, 0));
    records.push_back(layer_record(layer, 20 + layer, 1, 1));
  }
  capture.job.data(DataName{}, aicore_file(records));
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 0);
  const std::string csv = capture.product("summary/op_summary_0.net.1.1.1.0.NA.1000.csv");
  CHECK(csv.find("\n0,layer_0,layer_0,N/A,0.001,33.333,") != std::string::npos);
  CHECK(csv.find("\n-,-,-,-,0.002,100.000,") != std::string::npos);
}

TEST_CASE("concurrent executions have separate lanes") {
  Capture capture;
  capture.job.info_json("1000")
      .net_info("net", 1)
      .net_info("other", 2)
      .layer_info("net", 1,
                  {core_layer(0, "a"), core_layer(1, "b"), {2, 0, "Mish", "AA_CPU", "c", ""}});
  // Two threads: execution 1 starts within execution 0, execution 2 after it; another model runs at
  // the same time.
  capture.job.data(DataName{},
                   aicore_file({layer_record(0, 1000, 100, 0), layer_record(0, 1050, 300, 1),
                                layer_record(1, 1100, 100, 0), layer_record(1, 1350, 100, 1),
                                layer_record(0, 1300, 100, 2)}));
  capture.job.data(
      DataName{.type = "aicpu"},
      aicpu_file({{2, 7, 1200, 1300, 0}, {2, 8, 1450, 1500, 1}, {2, 7, 1400, 1480, 2}}));
  capture.job.data(DataName{.model = "other", .model_id = 2},
                   aicore_file({layer_record(0, 1250, 50, 0)}));
  REQUIRE(capture.run({"export", "timeline"}).exit_code == 0);
  const auto lanes = [&](const std::string& file) {
    std::map<std::string, std::string> names;
    Lines slices;
    for (const auto& event : nlohmann::json::parse(capture.product("timeline/" + file))) {
      const std::string thread = event.at("tid").dump();
      if (event.at("name") == "thread_name") names[thread] = event.at("args").at("name");
      if (event.at("ph") == "X") {
        slices.push_back(names.at(thread) + " " + event.at("name").get<std::string>() + " " +
                         event.at("ts").dump());
      }
    }
    return slices;
  };
  CHECK(lanes("task_time_0.net.1.1.json") == Lines{"AA CORE a 1.0", "AA CORE, parallel 2 a 1.05",
                                                   "AA CORE b 1.1", "AA CPU c 1.2", "AA CORE a 1.3",
                                                   "AA CORE, parallel 2 b 1.35", "AA CPU c 1.4",
                                                   "AA CPU, parallel 2 c 1.45"});
  // Viewers overlay the files of a folder.
  CHECK(lanes("task_time_0.other.2.1.json") == Lines{"AA CORE, parallel 3 layer_0 1.25"});
}

TEST_CASE("overlapping slices of one execution are drawn side by side") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1);
  capture.job.data(DataName{}, aicore_file({layer_record(0, 1000, 100), layer_record(1, 1050, 100),
                                            layer_record(2, 1060, 20), layer_record(3, 1100, 10)}));
  REQUIRE(capture.run({"export", "timeline"}).exit_code == 0);
  Lines slices;
  for (const auto& event :
       nlohmann::json::parse(capture.product("timeline/task_time_0.net.1.1.json"))) {
    if (event.at("ph") == "X")
      slices.push_back(event.at("tid").dump() + " " + event.at("ts").dump());
  }
  // The third slice is inside the first.
  CHECK(slices == Lines{"0 1.0", "2 1.05", "0 1.06", "0 1.1"});
}

TEST_CASE("acl files have the batch size of the executions, like task_time") {
  Capture capture;
  capture.job.info_json("1000").net_info("net", 1, {.batch_num = "1"});
  capture.job.data("acl_api.0.net.1", acl_api_file({{3, 0, 1, 2}}));
  Lines expected = {"acl_0.net.1.4.json", "task_time_0.net.1.4.json"};
  capture.job.data(DataName{.batch = 4}, aicore_file({layer_record(0, 1, 1)}));
  SECTION("all executions have one batch") {}
  SECTION("net.info has one of several") {
    capture.job.data(DataName{.batch = 1}, aicore_file({layer_record(0, 5, 1)}));
    expected = {"acl_0.net.1.1.json", "task_time_0.net.1.1.json", "task_time_0.net.1.4.json"};
  }
  REQUIRE(capture.run({"export", "timeline"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "timeline") == expected);
}

TEST_CASE(
    "the batch size of acl files is that of net.info, else the smallest of the captures, else 1") {
  Capture capture;
  capture.job.info_json("1000").data("acl_api.0.net.1", acl_api_file({{3, 0, 1, 2}}));
  int batch = 1;
  SECTION("no source has it") {}
  SECTION("the captures have it") {
    for (const int one : {8, 6}) {
      capture.job.data(DataName{.batch = one}, aicore_file({layer_record(0, 1, 1)}));
    }
    batch = 6;
  }
  const auto result = capture.run({"export", "timeline"});
  REQUIRE(result.exit_code == 0);
  const std::string stem = "acl_0.net.1." + std::to_string(batch);
  CHECK(std::filesystem::exists(capture.job.folder() / "timeline" / (stem + ".json")));
  CHECK(result.err.find(stem + ": no batch size in net.info") != std::string::npos);
}

TEST_CASE("two devices are separate, each with its frequency") {
  Capture capture;
  capture.job.info_json("1000", Generation::ss928, 0).info_json("500", Generation::ss928, 1);
  capture.job.net_info("net", 1);
  for (const int device : {0, 1}) {
    capture.job.data(DataName{.device = device}, aicore_file({layer_record(0, 1000, 1000)}));
  }
  REQUIRE(capture.run({"export", "summary", "op_statistic"}).exit_code == 0);
  CHECK(capture.product("summary/op_statistic_0_1_0_0.csv") ==
        std::string(kStatisticHead) + "0,0,layer_0,AA_CORE,100.000,1.000,1,1.000,1.000,1.000\n");
  CHECK(capture.product("summary/op_statistic_1_1_0_0.csv") ==
        std::string(kStatisticHead) + "0,0,layer_0,AA_CORE,100.000,2.000,1,2.000,2.000,2.000\n");
}
