// Record layouts: unknown headers, and layouts described by a user.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

// One aicore file with `bytes`, next to a good call file.
struct Odd : Capture {
  explicit Odd(const std::string& bytes) {
    job.info_json("500").net_info("net", 1).data(DataName{}, bytes);
    job.data("acl_api.0.net.1", acl_api_file({{3, 0, 100, 200}}));
  }
};

const std::vector<AicoreRecord> kTwo = {layer_record(0, 1000, 10), layer_record(1, 2000, 20)};

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

// A board-specific 24-byte call record: u16 api, u16 0, u32 thread, u64 start in us, u64 end in us.
std::string board_calls(std::size_t count) {
  std::string bytes = zeros(8);
  for (std::size_t i = 0; i < count; ++i) {
    bytes +=
        u32_bytes(i == 0 ? 7 : 9) + u32_bytes(55) + u64_bytes(1000 * i) + u64_bytes(1000 * i + 3);
  }
  return bytes;
}

constexpr const char* kBoardLayout =
    R"({"acl_api": {"header_size": 8, "record_size": 24, "fields": {
  "api_id": {"offset": 0, "type": "u16"}, "thread_id": {"offset": 4, "type": "u32"},
  "start": {"offset": 8, "type": "u64", "scale": 1000},
  "end": {"offset": 16, "type": "u64", "scale": 1000}},
  "api_names": {"7": {"name": "svp_acl_mdl_execute", "type": "model"}}}})";

}  // namespace

TEST_CASE("a file with an unknown layout is reported with its size and skipped, the rest is read") {
  const auto [bytes, candidates] = GENERATE(table<std::string, std::vector<int>>({
      {aicore_file(kTwo, {.magic = "MSVQ"}), {16, 24, 40, 48, 80, 120, 240}},
      {aicore_file(kTwo, {.version = 2}), {16, 24, 40, 48, 80, 120, 240}},
      {aicore_file(kTwo, {.record_bytes = 104}), {16, 32, 56, 112, 224}},
      {aicore_file(kTwo, {.record_bytes = 0}), {16}},
      {aicore_file(kTwo, {.kind = 3}), {16, 24, 40, 48, 80, 120, 240}},
      {"MSVP", {}},
      {"MSVP\x01", {}},
      {"M", {}},
      {zeros(112), {16, 56, 112}},
  }));
  INFO(bytes.size() << " bytes");
  const Odd capture(bytes);
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").at("acl_api").at("records") == 1);
  CHECK(verdict.at("kinds").count("aicore") == 0);
  const auto& finding = verdict.at("findings").at(0);
  CHECK(finding.at("reason") == "unknown layout");
  CHECK(finding.at("file") == "data/aicore.0.net.1.1.1.0");
  const std::string detail = finding.at("detail");
  CHECK(detail.find(std::to_string(bytes.size()) + " bytes") != std::string::npos);
  for (const int size : candidates) {
    CHECK(detail.find(" " + std::to_string(size)) != std::string::npos);
  }
  CHECK(capture.run({"export", "summary"}).exit_code == 3);
  CHECK(names_in(capture.job.folder() / "summary") == Lines{"acl_statistic_0_1_0.csv"});
}

TEST_CASE("a header truncated anywhere is an unknown layout") {
  const TempFolder folder;
  const std::string whole = aicore_file(kTwo);
  for (std::size_t size = 1; size < 16; ++size) {
    JobBuilder(folder.path(), "JOB" + std::to_string(100 + size))
        .info_json("500")
        .data(DataName{}, whole.substr(0, size));
  }
  const auto result = run_msprof({"import", "--json", "-q", "-dir", folder.path().string()});
  CHECK(result.exit_code == 3);
  const auto captures = nlohmann::json::parse(result.out).at("captures");
  REQUIRE(captures.size() == 15);
  for (const auto& capture : captures) {
    CHECK(capture.at("findings").at(0).at("reason") == "unknown layout");
    CHECK(capture.at("records") == 1);  // only info.json
  }
}

TEST_CASE("records longer than expected are read with the known fields, with a note") {
  const Odd capture(aicore_file(kTwo, {.record_bytes = 120}));
  CHECK(capture.import(0).at("kinds").at("aicore").at("records") == 2);
  CHECK(capture.rows("SELECT start_ns, c0 FROM task JOIN task_pmu ON task_id = id ORDER BY id") ==
        Lines{"1000|10", "2000|20"});
  CHECK(capture.rows("SELECT severity, count(*) FROM import_log WHERE reason LIKE"
                     " 'records longer%'") == Lines{"without|1"});
}

TEST_CASE("a described layout reads the records of a board, with scale and names") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", board_calls(2), {.pid = 3, .tid = 4});
  CHECK(capture.import(3).at("kinds").count("acl_api") == 0);
  write_file(capture.folder / "layout.json", kBoardLayout);
  CHECK(capture.import(0, {"--layout", (capture.folder / "layout.json").string()})
            .at("kinds")
            .at("acl_api")
            .at("records") == 2);
  CHECK(capture.rows("SELECT name.text, process_id, thread_id, start_ns, end_ns FROM api_call"
                     " JOIN name ON name.id = name_id ORDER BY api_call.id") ==
        Lines{"svp_acl_mdl_execute|3|55|0|3000", "api_9|3|55|1000000|1003000"});
  // Export keeps the layout of the last import, even if it imports again.
  write_file(capture.job.folder() / "data/extra.bin", "x");
  CHECK(capture.run({"export", "summary"}).exit_code == 0);
}

TEST_CASE("a layout without some fields makes a profile without their columns") {
  const std::string fields = GENERATE(
      as<std::string>(), "", R"(, "mac_busy": {"offset": 20, "type": "u8"})",
      R"(, "mac_busy": {"offset": 20, "type": "u8"}, "ddr_read": {"offset": 21, "type": "u8"},
         "ddr_write": {"offset": 22, "type": "u8"})");
  INFO(fields);
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.layer_info("net", 1, {{0, 0, "Conv", "AA_CORE", "conv", ""}});
  capture.job.data(DataName{}, u32_bytes(0) + u32_bytes(0) + u64_bytes(1000) + u64_bytes(200));
  write_file(capture.folder / "layout.json",
             R"({"aicore": {"record_size": 24, "header_size": 0, "fields": {
                  "layer_id": {"offset": 0, "type": "u32"}, "start": {"offset": 8, "type": "u64"},
                  "total_cycles": {"offset": 16, "type": "u32"})" +
                 fields + "}}}");
  const auto verdict = capture.import(0, {"--layout", (capture.folder / "layout.json").string()});
  CHECK(verdict.at("verdict") == "without");
  CHECK(verdict.at("without") == (fields.empty() ? nlohmann::json{"unit loads", "DDR bytes"}
                                  : fields.find("ddr") == std::string::npos
                                      ? nlohmann::json{"some unit loads", "DDR bytes"}
                                      : nlohmann::json{"some unit loads"}));
  CHECK(capture.run({"export", "summary", "-q"}).exit_code == 0);
}

TEST_CASE("more calls than a board keeps indicate a wrong layout") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", board_calls(513), {.pid = 3, .tid = 4});
  std::string layout = kBoardLayout;
  layout.insert(layout.find("\"7\""), R"("9": {"name": "svp_acl_mdl_unload", "type": "model"}, )");
  write_file(capture.folder / "layout.json", layout);
  const auto verdict = capture.import(0, {"--layout", (capture.folder / "layout.json").string()});
  CHECK(verdict.at("verdict") == "without");
  CHECK(verdict.at("without") == nlohmann::json{"a layout that matches its API calls"});
}

TEST_CASE("an import uses the layout of the existing store unless forced") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", board_calls(2), {.pid = 3, .tid = 4});
  const std::string layout = (capture.folder / "layout.json").string();
  write_file(layout, kBoardLayout);
  capture.import(0, {"--layout", layout});
  capture.import(0);
  CHECK(capture.rows("SELECT count(*) FROM api_call") == Lines{"2"});
  CHECK(capture.rows("SELECT value FROM meta WHERE key = 'layout_source'") ==
        Lines{"of the last import"});
  // In another folder there is no store that remembers the layout.
  CHECK(capture.run({"import", "--output", (capture.folder / "out").string()}).exit_code == 3);

  capture.import(3, {"--force"});
  CHECK(capture.rows("SELECT count(*) FROM api_call") == Lines{"0"});
  CHECK(capture.rows("SELECT key, value FROM meta WHERE key LIKE 'layout%'") ==
        Lines{"layout_origin|known"});
  capture.import(3);
}

TEST_CASE("the layout of a store of another version is kept when it is rebuilt") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", board_calls(2), {.pid = 3, .tid = 4});
  write_file(capture.folder / "layout.json", kBoardLayout);
  capture.import(0, {"--layout", (capture.folder / "layout.json").string()});
  // user_version of the file header.
  std::string store = read_file(capture.job.store());
  store.at(63) = 1;
  write_file(capture.job.store(), store);
  CHECK(capture.run({"export", "summary"}).exit_code == 0);
  CHECK(capture.rows("SELECT count(*) FROM api_call") == Lines{"2"});
}

TEST_CASE("a full ring of a board is noted; our own format has no limit") {
  const std::size_t count = GENERATE(511u, 512u, 513u);
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", board_calls(count), {.pid = 3, .tid = 4});
  write_file(capture.folder / "layout.json", kBoardLayout);
  const auto verdict = capture.import(0, {"--layout", (capture.folder / "layout.json").string()});
  CHECK(verdict.at("kinds").at("acl_api").at("records") == count);
  CHECK(capture.rows("SELECT count(*) FROM import_log WHERE reason LIKE '%ring%full%'") ==
        Lines{count == 512 ? "1" : "0"});

  Capture ours;
  ours.job.info_json("500").net_info("net", 1);
  ours.job.data("acl_api.0.net.1", acl_api_file(std::vector<AclRecord>(count, {3, 0, 1, 2})));
  ours.import(0);
  CHECK(ours.log().empty());
}

TEST_CASE("fields missing in a layout are N/A in the products") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  std::string bytes;
  for (const std::uint64_t cycles : {1000u, 3000u}) bytes += u64_bytes(0) + u64_bytes(cycles);
  capture.job.data(DataName{}, bytes);
  write_file(capture.folder / "layout.json",
             R"({"aicore": {"header_size": 0, "record_size": 16, "fields": {
                 "layer_id": {"offset": 0, "type": "u32"},
                 "total_cycles": {"offset": 8, "type": "u64"},
                 "mac_busy": {"offset": null, "type": "u64"}}}})");
  capture.import(0, {"--layout", (capture.folder / "layout.json").string()});
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 0);
  // 1000 and 3000 cycles, two executions of the one layer.
  const std::string csv = capture.product("summary/op_summary_0.net.1.1.1.0.NA.500.csv");
  CHECK(csv.substr(csv.find('\n') + 1) ==
        "0,layer_0,layer_0,N/A,4.000,100.000,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"
        "-,-,-,-,4.000,100.000,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n");
}

TEST_CASE("unknown files are read with the filled-in template") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", board_calls(2), {.pid = 3, .tid = 4});
  const auto path = capture.folder / "template.json";
  CHECK(capture.run({"import", "--layout-template", path.string()}).exit_code == 3);
  auto layout = nlohmann::json::parse(read_file(path));
  CHECK(layout.at("_files").at(0).at("file") == "data/acl_api.0.net.1");
  CHECK(layout.at("_files").at(0).at("size") == 56);
  CHECK(layout.at("acl_api").at("candidate_record_sizes") == nlohmann::json{56});
  auto& calls = layout.at("acl_api");
  calls.at("header_size") = 8;
  calls.at("record_size") = 24;
  calls.at("fields").at("api_id") = {{"offset", 0}, {"type", "u16"}};
  calls.at("fields").at("start").at("offset") = 8;
  calls.at("fields").at("end").at("offset") = 16;
  write_file(path, layout.dump());
  CHECK(capture.import(0, {"--layout", path.string()}).at("verdict") == "without");
  CHECK(capture.rows("SELECT thread_id, start_ns, end_ns FROM api_call ORDER BY id") ==
        Lines{"4|0|3", "4|1000|1003"});
}

TEST_CASE("no template is written if every file is readable") {
  Capture capture;
  add_face(capture.job);
  const auto path = capture.folder / "template.json";
  CHECK(capture.run({"import", "--layout-template", path.string()}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}
