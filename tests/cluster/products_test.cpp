// The vendor's cluster files, cell by cell; expected cells are calculated by hand.
#include "cluster/products/products.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cluster/sketched_part.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof {

namespace {

using nlohmann::json;
using test::SketchedPart;
using test::TempFolder;
using test::two_ranks;

// The files written for a rank summary, in a temporary folder.
struct Written {
  explicit Written(const SketchedPart& sketch, cluster::ClusterProductOptions options = {})
      : products(cluster::write_vendor_files(sketch.written(folder / "cluster.db"), folder.path(),
                                             options)) {}
  std::string text(const std::string& name) const {
    return test::read_file(folder / "cluster_analysis_output" / name);
  }
  json document(const std::string& name) const { return json::parse(text(name)); }
  std::vector<std::string> rows(const std::string& sql) const {
    return test::query(folder / "cluster_analysis_output" / "cluster_analysis.db", sql);
  }

  TempFolder folder;
  cluster::ClusterProducts products;
};

using Lines = std::vector<std::string>;

const json kNoBand = {{"Transit Size(MB)", 0.0},
                      {"Transit Time(ms)", 0.0},
                      {"Bandwidth(GB/s)", 0.0},
                      {"Large Packet Ratio", 0.0},
                      {"Size Distribution", json::object()}};

}  // namespace

TEST_CASE("the step trace of a cluster has one row per rank and step, and one per stage") {
  const Written out(two_ranks());
  CHECK(out.text("cluster_step_trace_time.csv") ==
        "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,"
        "Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing\n"
        "1,rank,0,4.000,3.000,2.000,5.000,3.000,9.500,0.500,2.800,0.100\n"
        "1,rank,1,6.000,1.000,1.000,2.000,3.000,10.000,0.000,1.000,0.050\n"
        "2,rank,0,8.000,0.000,0.000,0.000,0.000,8.000,0.000,0.000,0.000\n"
        "2,rank,1,8.001,0.001,0.000,0.001,0.998,9.000,0.000,0.001,0.007\n"
        "1,stage,\"(0, 1)\",6.000,3.000,2.000,5.000,3.000,10.000,0.500,2.800,0.100\n"
        "2,stage,\"(0, 1)\",8.001,0.001,0.000,0.001,0.998,9.000,0.000,0.001,0.007\n");
}

TEST_CASE("a rank without steps has one row without a step, and time outside steps is ignored") {
  SketchedPart part = two_ranks();
  part.steps = {{0, kNull, 1, 0, 500, 300, 0, 0, 200, 0, 0, 0},
                {0, kNull, 2, 0, 900, 800, 0, 0, 100, 0, 0, 0},
                {0, 1, 2, 0, 700, 600, 0, 0, 100, 0, 0, 0}};
  const std::string text = Written(part).text("cluster_step_trace_time.csv");
  CHECK(text.find("\n,rank,0,0.300,") != std::string::npos);
  CHECK(text.find("\n,rank,1,") == std::string::npos);
  CHECK(text.find("\n1,rank,1,0.600,") != std::string::npos);
}

TEST_CASE("groups of collectives without all ranks define the stages") {
  SketchedPart part = two_ranks();
  part.members.push_back(part.members[1]);
  part.members[2].rank = 2;
  part.steps = {{0, 1, 3, 0, 700, 600, 0, 0, 100, 0, 0, 0}};
  const Written out(part);
  CHECK(out.document("communication_group.json")["p2p"] == json({{0, 1}}));
  // The third rank is in no group that defines its stage.
  CHECK(out.text("cluster_step_trace_time.csv").find("stage") == std::string::npos);
}

TEST_CASE("collectives of each rank have times and link types") {
  const Written out(two_ranks());
  const json document = out.document("cluster_communication.json");
  CHECK(document["collective"]["step1"].size() == 3);
  const json& first = document["collective"]["step1"]["hcom_allReduce__855_0_1@1234567855"];
  CHECK(first["0"]["Communication Time Info"] ==
        json({{"Start Timestamp(us)", 1700000000000001.234},
              {"Elapse Time(ms)", 2.0},
              {"Transit Time(ms)", 1.0},
              {"Wait Time(ms)", 0.5},
              {"Synchronization Time(ms)", 0.25},
              {"Idle Time(ms)", 0.5},
              {"Wait Time Ratio", 0.3333},
              {"Synchronization Time Ratio", 0.2}}));
  json bands = {{"HCCS",
                 {{"Transit Size(MB)", 68.0},
                  {"Transit Time(ms)", 1.0},
                  {"Bandwidth(GB/s)", 68.0},
                  {"Large Packet Ratio", 0.2},
                  {"Size Distribution", {{"1.0", {4, 0.4}}, {"64.0", {1, 0.6}}}}}},
                {"RDMA", kNoBand},
                {"PCIE", kNoBand},
                {"SDMA",
                 {{"Transit Size(MB)", 68.0},
                  {"Transit Time(ms)", 1.0},
                  {"Bandwidth(GB/s)", 68.0},
                  {"Large Packet Ratio", 0.0},
                  {"Size Distribution", json::object()}}},
                {"SIO", kNoBand}};
  CHECK(first["0"]["Communication Bandwidth Info"] == bands);
  CHECK(first["1"]["Communication Bandwidth Info"]["RDMA"] ==
        json({{"Transit Size(MB)", 1.0},
              {"Transit Time(ms)", 0.1},
              {"Bandwidth(GB/s)", 10.0},
              {"Large Packet Ratio", 1.0},
              {"Size Distribution", {{"0.5", {2, 0.1}}}}}));
  CHECK(first["1"]["Communication Bandwidth Info"]["SDMA"] == kNoBand);

  const json& total = document["collective"]["step1"]["Total Op Info@1234567855"]["0"];
  CHECK(total["Communication Time Info"] == json({{"Start Timestamp(us)", 1700000000000001.234},
                                                  {"Elapse Time(ms)", 3.0},
                                                  {"Transit Time(ms)", 1.0},
                                                  {"Wait Time(ms)", 1.5},
                                                  {"Synchronization Time(ms)", 0.25},
                                                  {"Idle Time(ms)", 0.5},
                                                  {"Wait Time Ratio", 0.6},
                                                  {"Synchronization Time Ratio", 0.2}}));
  CHECK(total["Communication Bandwidth Info"] == bands);

  const json& sent = document["p2p"]["step1"];
  CHECK(sent.size() == 2);
  const json& pcie =
      sent["hcom_send__855_0_1@1234567855"]["1"]["Communication Bandwidth Info"]["PCIE"];
  CHECK(pcie["Bandwidth(GB/s)"] == 5.0);
  CHECK(sent["Total Op Info@1234567855"].size() == 1);
}

TEST_CASE("the clock of a host is moved to that of the reference host") {
  SketchedPart part = two_ranks();
  cluster::ClusterProductOptions options;
  options.shifts[part["uid-b"]] = 400'000;
  const json document = Written(part, options).document("cluster_communication.json");
  const json& ranks = document["collective"]["step1"]["hcom_allReduce__855_0_1@1234567855"];
  CHECK(ranks["0"]["Communication Time Info"]["Start Timestamp(us)"] == 1700000000000001.234);
  CHECK(ranks["1"]["Communication Time Info"]["Start Timestamp(us)"] == 1700000000000100.0);
}

TEST_CASE("the matrix has the transfers between ranks, per operation and in total") {
  const Written out(two_ranks());
  const json document = out.document("cluster_communication_matrix.json");
  const json expected = {{"0-0",
                          {{"Transport Type", "LOCAL"},
                           {"Transit Time(ms)", 0.000009},
                           {"Transit Size(MB)", 0.005},
                           {"Bandwidth(GB/s)", 555.5556},
                           {"Op Name", "hcom_allReduce_"}}},
                         {"0-1",
                          {{"Transport Type", "HCCS"},
                           {"Transit Time(ms)", 1.0},
                           {"Transit Size(MB)", 68.0},
                           {"Bandwidth(GB/s)", 68.0},
                           {"Op Name", "hcom_allReduce_"}}},
                         {"1-0",
                          {{"Transport Type", "RDMA"},
                           {"Transit Time(ms)", 0.1},
                           {"Transit Size(MB)", 1.0},
                           {"Bandwidth(GB/s)", 10.0},
                           {"Op Name", "hcom_allReduce_"}}}};
  CHECK(document["collective"] == json({{"step1",
                                         {{"allreduce-total@1234567855", expected},
                                          {"Total Op Info@1234567855", expected}}}}));
  CHECK(document["p2p"]["step1"]["send-total@1234567855"]["1-0"]["Transport Type"] == "PCIE");
  REQUIRE(out.products.notes.size() == 1);
  CHECK(out.products.notes[0].find("is missing 1 ") != std::string::npos);
}

TEST_CASE("groups are lists of ranks, with their known facts") {
  const json document = Written(two_ranks()).document("communication_group.json");
  const json info = {{"rank_set", {0, 1}},
                     {"group_name", "1234567855"},
                     {"group_id", ""},
                     {"pg_name", ""},
                     {"type", "collective"}};
  json pairs = info;
  pairs["type"] = "p2p";
  CHECK(document == json({{"collective", {{0, 1}}},
                          {"p2p", {{0, 1}}},
                          {"comm_group_parallel_info", {info, pairs}}}));
}

TEST_CASE("the database of a cluster has the vendor's tables, and the cells of the files") {
  const Written out(two_ranks());
  CHECK(out.rows("SELECT * FROM ClusterBaseInfo") == Lines{"rank_count|2", "missing_ranks|"});
  CHECK(out.rows("SELECT * FROM HostInfo") == Lines{"uid-a|host-a", "uid-b|host-b"});
  CHECK(out.rows("SELECT rankId, deviceId, hostUid, profilePath FROM RankDeviceMap") ==
        Lines{"0|4|uid-a|PROF_A", "1|5|uid-b|PROF_B"});
  CHECK(out.rows("SELECT type, rank_set, group_name, group_id, pg_name"
                 " FROM CommunicationGroupMapping") ==
        Lines{"collective|(0,1)|1234567855||", "p2p|(0,1)|1234567855||"});
  CHECK(out.rows("SELECT step, type, \"index\", computing, communication_not_overlapped,"
                 " overlapped, communication, free, stage, bubble,"
                 " communication_not_overlapped_and_exclude_receive, preparing, dp_index,"
                 " pp_index, tp_index FROM ClusterStepTraceTime WHERE step = '1'") ==
        Lines{"1|rank|0|4.0|3.0|2.0|5.0|3.0|9.5|0.5|2.8|0.1|NULL|NULL|NULL",
              "1|rank|1|6.0|1.0|1.0|2.0|3.0|10.0|0.0|1.0|0.05|NULL|NULL|NULL",
              "1|stage|(0,1)|6.0|3.0|2.0|5.0|3.0|10.0|0.5|2.8|0.1|NULL|NULL|NULL"});
  CHECK(out.rows("SELECT step, rank_id, hccl_op_name, group_name, elapsed_time, transit_time,"
                 " wait_time, synchronization_time, idle_time, synchronization_time_ratio,"
                 " wait_time_ratio FROM ClusterCommunicationTime WHERE rank_id = 0") ==
        Lines{"step1|0|hcom_allReduce__855_0_1|1234567855|2.0|1.0|0.5|0.25|0.5|0.2|0.3333",
              "step1|0|hcom_allReduce__855_1_1|1234567855|1.0|0.0|1.0|0.0|0.0|0.0|1.0",
              "step1|0|Total Op Info|1234567855|3.0|1.0|1.5|0.25|0.5|0.2|0.6"});
  CHECK(out.rows("SELECT printf('%.3f', start_timestamp) FROM ClusterCommunicationTime"
                 " WHERE hccl_op_name = 'hcom_send__855_0_1'") == Lines{"1700000000009000.000"});
  CHECK(out.rows("SELECT rank_id, hccl_op_name, band_type, transit_size, transit_time, bandwidth,"
                 " large_packet_ratio, package_size, count, total_duration"
                 " FROM ClusterCommunicationBandwidth WHERE hccl_op_name <> 'Total Op Info'") ==
        Lines{"0|hcom_allReduce__855_0_1|HCCS|68.0|1.0|68.0|0.2|1.0|4|0.4",
              "0|hcom_allReduce__855_0_1|HCCS|68.0|1.0|68.0|0.2|64.0|1|0.6",
              "1|hcom_allReduce__855_0_1|RDMA|1.0|0.1|10.0|1.0|0.5|2|0.1",
              "1|hcom_send__855_0_1|PCIE|2.0|0.4|5.0|0.0|2.0|1|0.4"});
  CHECK(out.rows("SELECT band_type, count FROM ClusterCommunicationBandwidth"
                 " WHERE hccl_op_name = 'Total Op Info'") ==
        Lines{"HCCS|4", "HCCS|1", "RDMA|2", "PCIE|1"});
  CHECK(out.rows("SELECT step, hccl_op_name, group_name, src_rank, dst_rank, transit_size,"
                 " transit_time, bandwidth, transport_type, op_name"
                 " FROM ClusterCommunicationMatrix WHERE hccl_op_name = 'allreduce-total'") ==
        Lines{"step1|allreduce-total|1234567855|0|0|0.005|9.0e-06|555.5556|LOCAL|hcom_allReduce_",
              "step1|allreduce-total|1234567855|0|1|68.0|1.0|68.0|HCCS|hcom_allReduce_",
              "step1|allreduce-total|1234567855|1|0|1.0|0.1|10.0|RDMA|hcom_allReduce_"});
}

TEST_CASE("without single collectives products have the totals, with a message") {
  SketchedPart part = two_ranks();
  const std::int64_t group = part["1234567855"];
  part.facts.has_detail = false;
  part.collectives.clear();
  part.totals = {{0, 1, group, part["hcom_allReduce_"], 1, 2, 5'000, 3'000'000, 1'500'000, 250'000,
                  1'000'000, 68'000'000}};
  for (auto& packets : part.packets) packets.sequence = kNull;
  part.packets.resize(3);
  const Written out(part);
  const json steps = out.document("cluster_communication.json")["collective"];
  CHECK(steps["step1"].size() == 1);
  const json& total = steps["step1"]["Total Op Info@1234567855"]["0"];
  CHECK(total["Communication Time Info"]["Idle Time(ms)"] == 0.5);
  CHECK(total["Communication Bandwidth Info"]["HCCS"]["Transit Size(MB)"] == 68.0);
  CHECK(out.rows("SELECT hccl_op_name FROM ClusterCommunicationTime") == Lines{"Total Op Info"});
  CHECK(out.products.notes.at(0).find("--detail-rows") != std::string::npos);
}

TEST_CASE("above the limit only totals of collectives are written, with a message") {
  cluster::ClusterProductOptions options;
  options.most_entries = 3;
  const Written out(two_ranks(), options);
  CHECK(out.document("cluster_communication.json")["collective"]["step1"].size() == 1);
  CHECK(out.products.notes.at(0).find("--all-collectives") != std::string::npos);
}

TEST_CASE("captures without a rank are numbered after those with one") {
  SketchedPart part = two_ranks();
  part.members[1].rank = kNull;
  part.members.push_back(part.members[0]);
  part.members[0].rank = 5;
  part.members[2].rank = 5;
  const Written out(part);
  CHECK(out.rows("SELECT rankId, hostUid FROM RankDeviceMap") ==
        Lines{"5|uid-a", "6|uid-b", "7|uid-a"});
  CHECK(out.rows("SELECT value FROM ClusterBaseInfo WHERE key = 'missing_ranks'") == Lines{"0-4"});
  CHECK(out.products.notes.at(0).find("numbered from 6") != std::string::npos);
}

TEST_CASE("unusual texts of a part are escaped in every product") {
  const std::string odd = "g\"\\\n\x01\xff,'\xe4\xb8\xad";
  SketchedPart part({odd, "hcom_a\"\t,", "PROF\n", "uid"});
  cluster::MemberRow member;
  member.rank = 0;
  member.host_name_id = part["uid"];
  member.capture_name_id = part["PROF\n"];
  part.members = {member};
  part.group_members = {{0, part[odd], 1, 0, 1}};
  part.collectives = {{0, kNull, part[odd], part["hcom_a\"\t,"], 0, 1, 1, 2, 0, 0, 0, 0}};
  part.links = {{0, kNull, part[odd], part["hcom_a\"\t,"], 1, 0, 0, 0, 2, 1, 1, 1, 1}};
  const Written out(part);
  const json steps = out.document("cluster_communication.json")["collective"];
  REQUIRE(steps["step"].size() == 2);
  CHECK(steps["step"].begin().key() == "Total Op Info@g\"\\\n\x01\xef\xbf\xbd,'\xe4\xb8\xad");
  CHECK(out.document("cluster_communication_matrix.json")["collective"]["step"].size() == 2);
  CHECK(out.document("communication_group.json")["comm_group_parallel_info"].size() == 1);
  CHECK(out.rows("SELECT profilePath FROM RankDeviceMap") == Lines{"PROF\n"});
}

TEST_CASE("an empty part gives files without rows") {
  const Written out(SketchedPart({}));
  CHECK(out.document("cluster_communication.json") ==
        json({{"p2p", json::object()}, {"collective", json::object()}}));
  CHECK(out.document("communication_group.json")["collective"].empty());
  CHECK(out.rows("SELECT * FROM ClusterStepTraceTime").empty());
  CHECK(out.products.files.size() == 5);
}

TEST_CASE("a row with an unknown rank ends the export with a message") {
  SketchedPart part = two_ranks();
  part.collectives[1].member_id = 3;
  TempFolder folder;
  const auto opened = part.written(folder / "cluster.db");
  CHECK_THROWS_WITH(cluster::write_vendor_files(opened, folder.path()),
                    Catch::Contains("cluster.db") && Catch::Contains("unknown rank"));
  CHECK_FALSE(
      std::filesystem::exists(folder / "cluster_analysis_output" / "cluster_communication.json"));
}

}  // namespace msprof
