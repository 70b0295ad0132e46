// `.done` files of all forms, and data files that are empty or missing.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

const std::string kTwoRecords = aicore_file({layer_record(0, 1000, 10), layer_record(1, 2000, 20)});

// A capture with one good call file, so that there is always data to read.
struct WithCalls : Capture {
  WithCalls() {
    job.info_json("500").net_info("net", 1);
    job.layer_info("net", 1, {{0, 0, "A", "AA_CORE", "a", ""}, {1, 0, "B", "AA_CORE", "b", ""}});
    job.data("acl_api.0.net.1", acl_api_file({{3, 0, 100, 200}}), {.pid = 5, .tid = 6});
  }
  std::string only_finding() const {
    const auto lines = log();
    REQUIRE(lines.size() == 1);
    return lines[0];
  }
};

}  // namespace

TEST_CASE("a missing .done makes the capture incomplete, and existing records are read") {
  WithCalls capture;
  capture.job.data(DataName{}, kTwoRecords, kNoDone);
  const auto verdict = capture.import(3);
  CHECK(verdict.at("missing_done") == nlohmann::json{"data/aicore.0.net.1.1.1.0"});
  CHECK(verdict.at("kinds").at("aicore").at("records") == 2);
}

TEST_CASE("a size different from file_len is partial, and all complete records are read") {
  const std::uint64_t said = GENERATE(std::uint64_t{239}, std::uint64_t{241}, std::uint64_t{128},
                                      std::uint64_t{0}, std::uint64_t{1} << 62);
  INFO(".done says " << said);
  WithCalls capture;
  capture.job.data(DataName{}, kTwoRecords, {.file_len = said});
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 2);
  CHECK(verdict.at("missing_done").empty());
  CHECK(capture.only_finding() == std::string("partial|other|aicore|data/aicore.0.net.1.1.1.0|") +
                                      (said > 240 ? "shorter" : "longer") +
                                      " than the length in its .done|1|NULL");
}

TEST_CASE("a .done without usable content is partial") {
  const std::string text = GENERATE(as<std::string>(), "", "\n\n", "file_len:abc\n", "filesize 240",
                                    std::string("\0\xff\x80", 3), "file_len:-1\n");
  WithCalls capture;
  capture.job.data(DataName{}, kTwoRecords, {.text = text});
  CHECK(capture.import(3).at("kinds").at("aicore").at("records") == 2);
}

TEST_CASE("a .done ends in batch numbers without a newline, or has CRLF lines") {
  WithCalls capture;
  capture.job.data(DataName{}, kTwoRecords,
                   {.cache_hit = 3, .cache_mis = 1, .batch_numbers = "4,8"});
  capture.job.data(DataName{.current = 4}, kTwoRecords,
                   {.text = "file_len:240\r\ncache_hit:1\r\ncache_mis:2\r\n"});
  CHECK(capture.import(0).at("verdict") == "complete");
  CHECK(capture.log().empty());
  REQUIRE(capture.run({"export", "summary"}).exit_code == 0);
  // Batches 1 of 4 and 2 of 3.
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"acl_statistic_0_1_0.csv", "op_statistic_0_1_0_0.csv", "op_statistic_0_1_4_1.csv",
              "op_summary_0.net.1.1.1.0.0.2500.500.csv",
              "op_summary_0.net.1.1.1.4.0.6667.500.csv"});
}

TEST_CASE("the pictures of a capture are those of its .done, else those in the file's name") {
  const auto [line, pictures] =
      GENERATE(table<std::string, std::string>({{"input_pic_num:240\n", "240"},
                                                {"", "4"},
                                                {"input_pic_num:0\n", "4"},
                                                {"input_pic_num:-1\n", "4"},
                                                {"input_pic_num:many\n", "4"}}));
  // Without layers of the core, the file of the CPU operators has the number.
  const bool is_on_cpu = GENERATE(false, true);
  WithCalls capture;
  const std::string records =
      is_on_cpu ? aicpu_file({AicpuRecord{.layer_id = 1, .start_ns = 5, .end_ns = 55}})
                : kTwoRecords;
  capture.job.data(DataName{.type = is_on_cpu ? "aicpu" : "aicore", .batch = 4, .pics = 4}, records,
                   {.text = "file_len:" + std::to_string(records.size()) + "\n" + line});
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_summary_0.net.1.4." + pictures + ".0.NA.500.csv"});
}

TEST_CASE("without cache counts the miss rate is NA in the file name") {
  const auto done = GENERATE(Done{}, Done{.cache_hit = 0, .cache_mis = 0}, Done{.cache_hit = 7});
  WithCalls capture;
  capture.job.data(DataName{}, kTwoRecords, done);
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "summary") == Lines{"op_summary_0.net.1.1.1.0.NA.500.csv"});
}

TEST_CASE("an empty file with length 0 in its .done is only a note") {
  WithCalls capture;
  capture.job.data(DataName{}, "");
  CHECK(capture.import(0).at("verdict") == "complete");
  CHECK(capture.only_finding().starts_with("note|"));
}

TEST_CASE("an empty file is partial without .done or with a greater length in it") {
  const auto done = GENERATE(Done{.written = false}, Done{.file_len = 240});
  WithCalls capture;
  capture.job.data(DataName{}, "", done);
  CHECK(capture.import(3).at("verdict") == "partial");
}

TEST_CASE("a file with a header and no record is complete and gives no product") {
  WithCalls capture;
  capture.job.data(DataName{}, aicore_file({}));
  const auto verdict = capture.import(0);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 0);
  CHECK(verdict.at("empty_products") ==
        nlohmann::json{"summary op_summary", "summary op_statistic", "timeline task_time"});
  REQUIRE(capture.run({"export", "timeline"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "timeline") == Lines{"acl_0.net.1.1.json"});
}

TEST_CASE("a .done without its data file is partial unless its length is 0") {
  const bool was_empty = GENERATE(true, false);
  WithCalls capture;
  capture.job.file("data/aicore.0.net.1.1.1.0.done", was_empty ? "file_len:0\n" : "file_len:240\n");
  CHECK(capture.import(was_empty ? 0 : 3).at("kinds").count("aicore") == 0);
  CHECK(capture.only_finding().starts_with(was_empty ? "note|" : "partial|"));
}

TEST_CASE("without a .done, calls have no process") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", acl_api_file({{3, 0, 100, 1200}, {5, 8, 2000, 2500}}),
                   kNoDone);
  REQUIRE(capture.run({"export", "summary"}).exit_code == 3);
  CHECK(capture.product("summary/acl_statistic_0_1_0.csv") ==
        "Process ID,Thread ID,Type,Name,Total Time Ratio(%),Total Time(us),Count,Avg(us),Max(us),"
        "Min(us)\n"
        "N/A,N/A,model,svp_acl_mdl_execute,68.750,1.100,1,1.100,1.100,1.100\n"
        "N/A,8,model,svp_acl_mdl_unload,31.250,0.500,1,0.500,0.500,0.500\n");
}

TEST_CASE("a missing kind is only a note") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1).data(DataName{}, kTwoRecords);
  const auto verdict = capture.import(0);
  CHECK(verdict.at("without") == nlohmann::json{"names of some layers"});
  CHECK(verdict.at("empty_products") == nlohmann::json{"summary acl_statistic", "timeline acl"});
}
