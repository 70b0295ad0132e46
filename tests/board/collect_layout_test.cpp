// A board with its own record layout: once the user's folder has a layout file, every run gives
// products.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// Two calls of 16 bytes: u8 api, u32 start at 4, u32 end at 8.
constexpr const char* kCalls = "A---1000100100zzB---2000200100zz";

std::string board_layout(int record_size) {
  const auto time = [](int offset) { return Json{{"offset", offset}, {"type", "u32"}}; };
  const Json calls = {
      {"header_size", 0},
      {"record_size", record_size},
      {"fields",
       {{"api_id", {{"offset", 0}, {"type", "u8"}}}, {"start", time(4)}, {"end", time(8)}}},
      {"api_names", {{"65", {{"name", "svp_acl_mdl_execute"}, {"type", "model"}}}}}};
  return Json{{"match", {{"stem", "acl_api"}}}, {"acl_api", calls}}.dump();
}

struct LayoutScene : BoardScene {
  fs::path layouts = user.at("config/msprof/layouts");

  RunResult run(const Words& options) const {
    RunOptions run_options = user.run_options();
    run_options.variables.emplace_back("XDG_CONFIG_HOME", user.at("config"));
    return run_msprof(
        user.words(options, {"job", kBoardJob, "remove", "JOB/data/aicore.0.m.1.1.1.0", "write",
                             "JOB/data/acl_api.0.net.1", kCalls}),
        run_options);
  }
};

}  // namespace

TEST_CASE("A layout in the user's folder is used for every run on the board") {
  const LayoutScene scene;
  write_file(scene.layouts / "other.json", board_layout(24));
  write_file(scene.layouts / "ours.json", board_layout(16));
  const RunResult run = scene.run({"--all", "--json"});
  INFO(run.err);
  const Json document = parse_document(run);
  REQUIRE(document.at("captures").size() == 1);
  const fs::path capture = document.at("captures")[0].at("path").get<std::string>();
  const std::string file = (scene.layouts / "ours.json").string();
  CHECK(contains(run.err, "layout: " + file + " (of the layouts folder)"));
  CHECK(query(capture / "sqlite/msprof.db", "SELECT count(*) FROM api_call") == Words{"2"});
  CHECK_FALSE(names_in(capture / "timeline").empty());

  const Json record = Json::parse(read_file(capture / "run.json"));
  CHECK(record.at("layout") ==
        Json{{"file", file}, {"origin", "described"}, {"source", "of the layouts folder"}});
  CHECK(record.at("host").get<std::string>().starts_with("board@127.0.0.1"));
  CHECK(record.at("board").at("system") == "Linux");
  CHECK(record.at("board").at("machine").is_string());
  CHECK(record.at("models").at(0).at("file") == "models/m.om");
  CHECK(scene.litter() == "");
}

TEST_CASE("Without a matching layout, missing data of a board's capture is reported") {
  const LayoutScene scene;
  write_file(scene.layouts / "other.json", board_layout(24));
  const RunResult run = scene.run({"--all", "--json"});
  INFO(run.err);
  CHECK(run.exit_code == 3);
  const fs::path capture = parse_document(run).at("captures")[0].at("path").get<std::string>();
  CHECK_FALSE(Json::parse(read_file(capture / "run.json")).contains("layout"));
}

TEST_CASE("Two matching layouts prevent the import of a capture, but not its download") {
  const LayoutScene scene;
  write_file(scene.layouts / "a.json", board_layout(16));
  write_file(scene.layouts / "b.json", board_layout(16));
  const RunResult run = scene.run({"--all", "--json"});
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK(contains(run.err, (scene.layouts / "a.json").string()));
  CHECK(contains(run.err, (scene.layouts / "b.json").string()));
  CHECK(fs::exists(scene.user.in_job("run.json")));
}

}  // namespace msprof::test
