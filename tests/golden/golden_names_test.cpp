// Names: every generation and spelling, models with odd names, short data names.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

const std::string kLayers = aicore_file({layer_record(0, 1000, 500), layer_record(1, 2000, 1500)});
const std::string kCpu = aicpu_file({{2, 9, 4000, 5000, 0}});
const std::string kCalls = acl_api_file({{3, 0, 100, 7100}});

constexpr const char* kModels =
    "SELECT name.text, model_id FROM model JOIN name ON name.id = name_id ORDER BY model.id";

// Adds a model with one capture, its info files and all three kinds of data.
void add_model(JobBuilder& job, const std::string& model, std::int64_t model_id) {
  job.info_json("500").net_info(model, model_id);
  job.layer_info(model, model_id,
                 {{0, 0, "A", "AA_CORE", "a", ""}, {1, 0, "B", "AA_CORE", "b", ""}});
  job.data(DataName{.model = model, .model_id = model_id}, kLayers);
  job.data("acl_api.0." + model + "." + std::to_string(model_id), kCalls, {.pid = 1, .tid = 2});
}

void export_all(const Capture& capture, int exit_code = 0) {
  CHECK(capture.run({"export", "timeline", "-q"}).exit_code == exit_code);
  CHECK(capture.run({"export", "summary", "-q"}).exit_code == exit_code);
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("all spellings of the type words, in any case, are the same kind") {
  const auto [core, cpu, api] = GENERATE(table<std::string, std::string, std::string>({
      {"aicore", "aicpu", "acl_api"},
      {"AIcore", "AICPU", "ACL_API"},
      {"AAcore", "aacpu", "AclModule"},
      {"aacore", "AACPU", "aclmodule"},
      {"AACORE", "AaCpu", "Acl_Api"},
  }));
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data(DataName{.type = core}, kLayers);
  capture.job.data(DataName{.type = cpu}, kCpu);
  capture.job.data(api + ".0.net.1", kCalls, {.pid = 1, .tid = 2});
  const auto verdict = capture.import(0);
  CHECK(verdict.at("kinds").at("aicore").at("records") == 2);
  CHECK(verdict.at("kinds").at("aicpu").at("records") == 1);
  CHECK(verdict.at("kinds").at("acl_api").at("records") == 1);
  CHECK(capture.rows(kModels) == Lines{"net|1"});
  CHECK(capture.rows("SELECT count(*) FROM step") == Lines{"1"});
}

TEST_CASE("names with and without a net number mean the same capture") {
  const std::optional<std::int64_t> net =
      GENERATE(as<std::optional<std::int64_t>>(), 0, std::nullopt);
  Capture capture;
  capture.job.info_json("500").net_info("kws-610-pro", 31);
  capture.job.data(
      DataName{
          .model = "kws-610-pro", .model_id = 31, .net = net, .batch = 3, .pics = 4, .current = 50},
      kLayers);
  export_all(capture);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_statistic_0_31_50_0.csv", "op_summary_0.kws-610-pro.31.3.4.50.NA.500.csv"});
  CHECK(names_in(capture.job.folder() / "timeline") == Lines{"task_time_0.kws-610-pro.31.3.json"});
}

TEST_CASE("current_pic_count and ids may have 63 bits") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("aicore.0.net.1.1.1.9223372036854775807", kLayers);
  export_all(capture);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_statistic_0_1_9223372036854775807_0.csv",
              "op_summary_0.net.1.1.1.9223372036854775807.NA.500.csv"});
}

TEST_CASE("model names with dots, also ending in .5, are read with the help of net.info") {
  const std::string model = GENERATE(as<std::string>(), "v2.1.face", "yolov5", "yolo.5", "3.14",
                                     "a.1.2.3.4.5", "-", ".hidden", "ends.");
  const bool old_form = GENERATE(true, false);
  INFO(model);
  Capture capture;
  capture.job.info_json("500").net_info(model, 31);
  DataName name{.model = model, .model_id = 31, .batch = 2, .pics = 2};
  if (old_form) name.net = 0;
  capture.job.data(name, kLayers);
  capture.job.data("acl_api.0." + model + ".31", kCalls, {.pid = 1, .tid = 2});
  CHECK(capture.import(0).at("verdict") == "without");
  CHECK(capture.rows(kModels) == Lines{model + "|31"});
  export_all(capture);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"acl_statistic_0_31_0.csv", "op_statistic_0_31_0_0.csv",
              "op_summary_0." + model + ".31.2.2.0.NA.500.csv"});
}

TEST_CASE("without net.info the shorter number list is used and reported") {
  Capture capture;
  capture.job.info_json("500").data("aicore.0.yolo.5.31.1.1.0", kLayers);
  CHECK(capture.import(0).at("verdict") == "without");
  CHECK(capture.rows(kModels) == Lines{"yolo.5|31"});
  CHECK(capture.log().size() == 2);  // two possible readings; unnamed layers
}

TEST_CASE("names with commas, quotes, Chinese or control characters are safe in every product") {
  const auto [model, in_names] = GENERATE(table<std::string, std::string>({
      {"a,b", "a,b"},
      {"say \"hi\"", "say \"hi\""},
      {"口罩识别", "口罩识别"},
      {"tab\there", "tab_here"},
      {"line\nbreak\x1b[31m", "line_break_[31m"},
      {"del\x7f", "del_"},
  }));
  Capture capture;
  add_model(capture.job, model, 7);
  CHECK(capture.import(0).at("verdict") == "complete");
  CHECK(capture.rows("SELECT text FROM model JOIN name ON name.id = name_id") == Lines{model});
  export_all(capture);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"acl_statistic_0_7_0.csv", "op_statistic_0_7_0_0.csv",
              "op_summary_0." + in_names + ".7.1.1.0.NA.500.csv"});
  CHECK(names_in(capture.job.folder() / "timeline") ==
        Lines{"acl_0." + in_names + ".7.1.json", "task_time_0." + in_names + ".7.1.json"});
}

TEST_CASE(
    "layer names with commas, quotes, Chinese and invalid bytes are quoted, escaped and repaired") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.layer_info("net", 1,
                         {{0, 0, "卷积", "AA_CORE", "a,\"b\"", "x\\y"},
                          {1, 0, "B", "AA_CORE", "bad\xff\x01", "卷积一"}});
  capture.job.data(DataName{}, kLayers);
  export_all(capture);
  const std::string csv = capture.product("summary/op_summary_0.net.1.1.1.0.NA.500.csv");
  CHECK(csv.find("\n0,x\\y,\"a,\"\"b\"\"\",卷积,1.000,25.000,") != std::string::npos);
  CHECK(csv.find("\n1,卷积一,bad\xEF\xBF\xBD\x01,B,3.000,75.000,") != std::string::npos);
  const std::string json = capture.product("timeline/task_time_0.net.1.1.json");
  CHECK(json.find(R"("name":"a,\"b\"")") != std::string::npos);
  CHECK(json.find("\"name\":\"bad\xEF\xBF\xBD\\u0001\"") != std::string::npos);
  CHECK(nlohmann::json::parse(json).size() == 4);
}

TEST_CASE("a product name above 255 bytes is shortened, keeps its extension and stays unique") {
  // 76 * 3 bytes: the raw names still fit, but the longest product name does not.
  const std::string model = repeated("网", 76);
  Capture capture;
  capture.job.info_json("500").net_info(model, 1);
  capture.job.data(DataName{.model = model}, kLayers);
  capture.job.data(DataName{.model = model, .current = 1}, kLayers);
  export_all(capture);
  const auto names = names_in(capture.job.folder() / "summary");
  REQUIRE(names.size() == 4);
  for (const auto& name : names) {
    CHECK(name.size() <= 255);
    CHECK(name.ends_with(".csv"));
  }
  CHECK(names[2].starts_with("op_summary_0.网网"));
  CHECK(names[2] != names[3]);
}

TEST_CASE("two models with the same file name get ~2") {
  Capture capture;
  add_model(capture.job, "a\tb", 1);
  add_model(capture.job, "a_b", 1);
  export_all(capture);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"acl_statistic_0_1_0.csv", "acl_statistic_0_1_0~2.csv", "op_statistic_0_1_0_0.csv",
              "op_statistic_0_1_0_0~2.csv", "op_summary_0.a_b.1.1.1.0.NA.500.csv",
              "op_summary_0.a_b.1.1.1.0.NA.500~2.csv"});
}

TEST_CASE("a short data name belongs to the single matching .done") {
  Capture capture;
  capture.job.info_json("500").net_info("kws-610-pro", 31);
  capture.job.data("aicore.0.1.1", kLayers, kNoDone);
  capture.job.file("data/aicore.0.kws-610-pro.31.1.1.0.done",
                   "file_len:" + std::to_string(kLayers.size()) +
                       "\nstart_time:1\nend_time:2\ncache_hit:3\ncache_mis:1\n");
  CHECK(capture.import(0).at("verdict") == "without");
  export_all(capture);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_statistic_0_31_0_0.csv", "op_summary_0.kws-610-pro.31.1.1.0.0.2500.500.csv"});
}

TEST_CASE("a short data name with no or several matching .done files is reported and not read") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", kCalls);
  capture.job.data("aicore.0.1.1", kLayers, kNoDone);
  const std::string done = "file_len:" + std::to_string(kLayers.size()) + "\n";
  SECTION("none") {}
  SECTION("another size") {
    capture.job.file("data/aicore.0.net.1.1.1.0.done", "file_len:7\n");
  }
  SECTION("another type") {
    capture.job.file("data/aicpu.0.net.1.1.1.0.done", done);
  }
  SECTION("another device") {
    capture.job.file("data/aicore.1.net.1.1.1.0.done", done);
  }
  SECTION("other numbers") {
    capture.job.file("data/aicore.0.net.1.2.2.0.done", done);
  }
  SECTION("two candidates") {
    capture.job.file("data/aicore.0.net.1.1.1.0.done", done);
    capture.job.file("data/aicore.0.other.2.1.1.0.done", done);
  }
  const auto verdict = capture.import(3);
  CHECK(verdict.at("kinds").count("aicore") == 0);
  const auto log = capture.log();
  CHECK(std::count_if(log.begin(), log.end(), [](const std::string& line) {
          return line.starts_with("partial|not read|") &&
                 line.find("|data/aicore.0.1.1|") != std::string::npos;
        }) == 1);
}
