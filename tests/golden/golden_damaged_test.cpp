// Truncated files and impossible records: intact data is read, other data is counted, and nothing
// is thrown.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

constexpr std::uint64_t kTwoTo53 = std::uint64_t{1} << 53;

// Imports many captures in one run; returns their verdicts by name.
nlohmann::json import_all(const TempFolder& folder, int exit_code) {
  const auto result = run_msprof({"import", "-q", "--json", "-dir", folder.path().string()});
  INFO(result.err);
  REQUIRE(result.exit_code == exit_code);
  return nlohmann::json::parse(result.out).at("captures");
}

std::string numbered(const std::string& stem, std::size_t number) {
  std::string digits = std::to_string(number);
  return stem + std::string(4 - digits.size(), '0') + digits;
}

// One aicore file with a good record of layer 0, `bad`, and a good record of layer 1.
struct OneBad : Capture {
  explicit OneBad(const AicoreRecord& bad) {
    job.info_json("500").net_info("net", 1);
    job.layer_info("net", 1, {{0, 0, "A", "AA_CORE", "a", ""}, {1, 0, "B", "AA_CORE", "b", ""}});
    job.data(DataName{}, aicore_file({layer_record(0, 1000, 10), bad, layer_record(1, 3000, 30)}));
  }
  Lines starts() const { return rows("SELECT start_ns FROM task ORDER BY id"); }
};

const Lines kBothGood = {"1000", "3000"};

}  // namespace

TEST_CASE("a call file truncated at any byte of its last record keeps every complete record") {
  const TempFolder folder;
  const std::string whole = acl_api_file({{3, 0, 100, 200}, {3, 0, 300, 450}});
  for (std::size_t cut = 48; cut < 80; ++cut) {
    JobBuilder(folder.path(), numbered("JOB", cut))
        .info_json("500")
        .net_info("net", 1)
        .data("acl_api.0.net.1", whole.substr(0, cut), {.file_len = 80});
  }
  const auto captures = import_all(folder, 3);
  REQUIRE(captures.size() == 32);
  for (std::size_t i = 0; i < 32; ++i) {
    INFO("cut at byte " << 48 + i);
    CHECK(captures[i].at("verdict") == "partial");
    CHECK(captures[i].at("kinds").at("acl_api").at("records") == 1);
    CHECK(captures[i].at("trailing_bytes") == i);
    CHECK(captures[i].at("findings")[0].at("reason") == "shorter than the length in its .done");
  }
}

TEST_CASE("a layer file truncated at any byte of its last record keeps every complete record") {
  const TempFolder folder;
  const std::string whole = aicore_file({layer_record(0, 1, 10), layer_record(1, 2, 20)});
  for (std::size_t cut = 128; cut < 240; ++cut) {
    JobBuilder(folder.path(), numbered("JOB", cut))
        .info_json("500")
        .data(DataName{}, whole.substr(0, cut), {.file_len = 240});
  }
  const auto captures = import_all(folder, 3);
  REQUIRE(captures.size() == 112);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    INFO("cut at byte " << 128 + i);
    CHECK(captures[i].at("kinds").at("aicore").at("records") == 1);
    CHECK(captures[i].at("trailing_bytes") == i);
  }
}

TEST_CASE("trailing bytes are counted with their offset") {
  Capture capture;
  capture.job.info_json("500").data(DataName{},
                                    aicore_file({layer_record(0, 1, 10)}) + std::string(7, 'x'));
  CHECK(capture.import(3).at("trailing_bytes") == 7);
  const auto log = capture.log();
  CHECK(std::count(
            log.begin(), log.end(),
            "partial|trailing bytes|aicore|data/aicore.0.net.1.1.1.0|trailing bytes|7|128") == 1);
}

TEST_CASE("unused space that a killed application left after its records is not a record") {
  const std::string room(150 * 112, '\0');
  // A record still being written, without a start.
  std::string under_way = aicore_file({layer_record(1, 0, 20)}).substr(16);
  Capture capture;
  capture.job.info_json("1000").data(
      DataName{}, aicore_file({layer_record(0, 1, 10), layer_record(1, 2, 20)}) + under_way + room,
      kNoDone);
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 2);
  CHECK(verdict.at("trailing_bytes") == 0);
  CHECK(verdict.at("findings")[0].at("reason") == "missing .done");
  CHECK(capture.rows("SELECT start_ns FROM task ORDER BY id") == Lines{"1", "2"});
}

TEST_CASE("a record with a unit busy longer than its layer is skipped and counted") {
  std::uint64_t AicoreRecord::*const unit =
      GENERATE(&AicoreRecord::mac_busy, &AicoreRecord::mac_ppen, &AicoreRecord::vec_busy,
               &AicoreRecord::vec_ppen, &AicoreRecord::dstr, &AicoreRecord::dtrans,
               &AicoreRecord::dld, &AicoreRecord::wld);
  AicoreRecord bad = layer_record(0, 2000, 20);
  bad.*unit = 21;
  const OneBad capture(bad);
  const auto verdict = capture.import(3);
  CHECK(verdict.at("skipped").size() == 1);
  CHECK(verdict.at("skipped").begin().value() == 1);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 2);
  CHECK(capture.starts() == kBothGood);
  // The second record: after 16 bytes of header and 112 of the first record.
  CHECK(capture.rows("SELECT severity, count, first_offset FROM import_log WHERE category ="
                     " 'skipped record'") == Lines{"partial|1|128"});
}

TEST_CASE("a unit that is busy all the time is valid") {
  AicoreRecord full = layer_record(0, 2000, 20);
  full.mac_busy = full.mac_ppen = full.vec_busy = full.vec_ppen = 20;
  full.dstr = full.dtrans = full.dld = full.wld = 20;
  const OneBad capture(full);
  CHECK(capture.import(0).at("skipped").empty());
  CHECK(capture.starts() == Lines{"1000", "2000", "3000"});
}

TEST_CASE("a layer longer than 2^53 ns is invalid, one of exactly 2^53 ns is valid") {
  // At 500 MHz a cycle is 2 ns.
  const OneBad longest(layer_record(0, 2000, kTwoTo53 / 2));
  CHECK(longest.import(0).at("skipped").empty());
  const OneBad longer(layer_record(0, 2000, kTwoTo53 / 2 + 1));
  CHECK(longer.import(3).at("skipped").begin().value() == 1);
  CHECK(longer.starts() == kBothGood);
}

TEST_CASE("a layer_id above a million is invalid, a million is valid") {
  const OneBad highest(layer_record(1'000'000, 2000, 20));
  CHECK(highest.import(0).at("skipped").empty());
  const OneBad higher(layer_record(1'000'001, 2000, 20));
  CHECK(higher.import(3).at("skipped").begin().value() == 1);
  CHECK(higher.starts() == kBothGood);
}

TEST_CASE("values beyond 63 bits are skipped in any field") {
  const std::size_t offset = GENERATE(range(std::size_t{8}, std::size_t{112}, std::size_t{8}));
  INFO("field at byte " << offset);
  Capture capture;
  const auto good = aicore_file(
      {layer_record(0, 1000, 10), layer_record(0, 2000, 20), layer_record(1, 3000, 30)});
  capture.job.info_json("500").data(DataName{},
                                    patched(good, 128 + offset, u64_bytes(~std::uint64_t{0})));
  CHECK(capture.import(3).at("skipped").begin().value() == 1);
  CHECK(capture.rows("SELECT start_ns FROM task ORDER BY id") == kBothGood);
}

TEST_CASE("invalid time spans of CPU operators and calls are skipped and counted by reason") {
  Capture capture;
  capture.job.info_json("500");
  capture.job.data(DataName{.type = "aicpu"}, aicpu_file({{0, 1, 200, 199, 0},
                                                          {0, 1, 200, 200, 0},
                                                          {1'000'001, 1, 200, 300, 0},
                                                          {0, 1, 200, 200 + kTwoTo53, 0},
                                                          {0, 1, 200, 201 + kTwoTo53, 0},
                                                          {0, 1, 900, 1, 0}}));
  capture.job.data(
      "acl_api.0.net.1",
      acl_api_file(
          {{3, 0, 50, 49}, {3, 0, 50, 50}, {3, 0, 50, 50 + kTwoTo53}, {3, 0, 50, 51 + kTwoTo53}}));
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").at("aicpu").at("records") == 2);
  CHECK(verdict.at("kinds").at("acl_api").at("records") == 2);
  CHECK(capture.rows("SELECT kind, sum(count) FROM import_log WHERE category = 'skipped record'"
                     " GROUP BY kind ORDER BY kind") == Lines{"acl_api|2", "aicpu|4"});
  CHECK(capture.rows("SELECT kind, count, first_offset FROM import_log WHERE category ="
                     " 'skipped record' ORDER BY kind, first_offset") ==
        Lines{"acl_api|1|16", "acl_api|1|112", "aicpu|2|16", "aicpu|1|80", "aicpu|1|144"});
}

TEST_CASE("a damaged record does not affect the products of others") {
  AicoreRecord bad = layer_record(0, 2000, 20);
  bad.dld = 21;
  const OneBad capture(bad);
  CHECK(capture.run({"export", "summary"}).exit_code == 3);
  // 10 and 30 cycles at 500 MHz.
  CHECK(capture.product("summary/op_statistic_0_1_0_0.csv") ==
        "Task ID,Stream ID,OP Name,Task Type,Total Time Ratio(%),Total Time(us),Count,Avg(us),"
        "Max(us),Min(us)\n"
        "1,0,b,AA_CORE,75.000,0.060,1,0.060,0.060,0.060\n"
        "0,0,a,AA_CORE,25.000,0.020,1,0.020,0.020,0.020\n");
}

TEST_CASE("a damaged line of layer.info loses only that line") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.file("data/net.1.layer.info",
                   "#msprof-layers 1\n0\t0\tA\tAA_CORE\ta\ta\nx\t0\tB\tAA_CORE\tb\tb\n"
                   "2\t0\tC\tAA_CORE\tc\tc\n2\t0\tD\tAA_CORE\td\td\n");
  capture.job.data(DataName{}, aicore_file({layer_record(0, 1, 1), layer_record(1, 2, 1),
                                            layer_record(2, 3, 1)}));
  CHECK(capture.import(3).at("verdict") == "partial");
  CHECK(capture.rows("SELECT name.text FROM op JOIN name ON name.id = name_id ORDER BY layer_id") ==
        Lines{"a", "layer_1", "c"});
  CHECK(capture.rows("SELECT count(*), sum(count) FROM import_log WHERE kind = 'layer.info' AND"
                     " category = 'skipped record'") == Lines{"2|2"});
}
