#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "collect/collect_fixture.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// A copy of the demo's folder, run from inside it as a user would.
struct BuiltDemo : Sandbox {
  BuiltDemo() {
    use_program(MSPROF_PROGRAM);
    for (const char* name : {"main", "libsvp_acl.so", "acl.json", "models"}) {
      fs::copy(fs::path(DEMO_FOLDER) / name, project() / name, fs::copy_options::recursive);
    }
  }
};

bool has_files(const fs::path& folder) {
  return fs::is_directory(folder) && !fs::is_empty(folder);
}

// Counts slices of one (pid, tid) that overlap without one containing the other.
int overlaps_in(const Json& trace) {
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> lanes;
  const auto ns = [](const Json& us) {
    return static_cast<std::int64_t>(std::llround(us.get<double>() * 1000));
  };
  for (const Json& event : trace) {
    if (event.at("ph") != "X") continue;
    const std::int64_t begin = ns(event.at("ts"));
    lanes[{event.at("pid").get<int>(), event.at("tid").get<int>()}].push_back(
        {begin, -(begin + ns(event.at("dur")))});
  }
  int overlaps = 0;
  for (auto& [lane, slices] : lanes) {
    std::sort(slices.begin(), slices.end());
    std::vector<std::int64_t> open;
    for (const auto& [begin, minus_end] : slices) {
      while (!open.empty() && open.back() <= begin) open.pop_back();
      if (!open.empty() && open.back() < -minus_end) ++overlaps;
      open.push_back(-minus_end);
    }
  }
  return overlaps;
}

}  // namespace

TEST_CASE("Threads of the demo do not overlap and are in files with their batch") {
  const BuiltDemo demo;
  const Finished run = collect(demo, {"-m", "main", "--all", "-q", "--output", "../out", "--",
                                      "--images", "24", "--threads", "3", "--batch", "2"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const fs::path out = demo.root() / "out";
  REQUIRE(std::distance(fs::directory_iterator(out), fs::directory_iterator()) == 1);
  const fs::path timeline = fs::directory_iterator(out)->path() / "timeline";
  for (const std::string name : {"task_time_0.face_mask.1.2.json", "acl_0.face_mask.1.2.json"}) {
    INFO(name);
    REQUIRE(fs::exists(timeline / name));
    std::ifstream file(timeline / name);
    CHECK(overlaps_in(Json::parse(file)) == 0);
  }
}

TEST_CASE("The demo is collected, imported and exported by one command") {
  const BuiltDemo demo;
  const auto before = snapshot(demo.project());
  const Finished run =
      collect(demo, {"-m", "main", "--all", "--json", "--output", "../out", "--", "--images", "2"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Json document = Json::parse(run.out);
  CHECK(document.at("application").at("exit_code") == 0);
  CHECK(document.at("files").empty());
  REQUIRE(document.at("captures").size() == 1);
  REQUIRE(document.at("results").size() == 1);
  CHECK(document.at("results")[0].at("exit_code") == 0);
  CHECK(document.at("results")[0].at("exported").size() >= 5);
  const fs::path capture = document.at("captures")[0].at("path").get<std::string>();
  CHECK(capture.filename().string().size() == 32);
  CHECK(has_files(capture / "data"));
  CHECK(fs::exists(capture / "sqlite" / "msprof.db"));
  CHECK(has_files(capture / "timeline"));
  CHECK(has_files(capture / "summary"));
  CHECK(snapshot(demo.project()) == before);
}

TEST_CASE("The pictures of a run of the demo are in the name of op_summary") {
  const BuiltDemo demo;
  // Two executions of 4 pictures, one of 2.
  const Finished run = collect(demo, {"-m", "main", "--all", "-q", "--output", "../out", "--",
                                      "--images", "10", "--batch", "4"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const fs::path capture = fs::directory_iterator(demo.root() / "out")->path();
  CHECK(fs::exists(capture / "summary" / "op_summary_0.face_mask.1.4.10.0.NA.1000.csv"));
}

TEST_CASE("The demo with its cores switched off has only CPU layers, and is complete") {
  const BuiltDemo demo;
  const Finished run = collect(demo, {"-m", "main", "--all", "--aac_metrics", "none", "--output",
                                      "../out", "--", "--images", "2"});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "verdict: complete ("));
  CHECK_FALSE(contains(run.err, "the core is not profiled"));
  const fs::path capture = fs::directory_iterator(demo.root() / "out")->path();
  const auto names = names_in(capture / "data");
  const auto count = [&](const std::string& type) {
    return std::count_if(names.begin(), names.end(),
                         [&](const std::string& name) { return name.starts_with(type); });
  };
  CHECK(count("aicore") == 0);
  CHECK(count("aicpu") == 2);
  CHECK(count("acl_api") == 2);
}

TEST_CASE("An interrupted demo leaves a capture that can be imported") {
  const BuiltDemo demo;
  // Exit code 4 (no data): this machine needs longer until the first image.
  Finished run;
  for (const std::string limit : {"1.5", "6", "24", "96"}) {
    run = collect(demo, {"-m", "main", "--timeout", limit, "--all", "--output", "../out", "--",
                         "--images", "1000000"});
    if (run.exit_code != 4) break;
    fs::remove_all(demo.root() / "out");
  }
  INFO(run.err);
  // The run itself succeeds. TERM left the demo no time to complete its files, which the import
  // reports.
  CHECK(run.exit_code == 3);
  CHECK(contains(run.err, "main ran for the "));
  CHECK(contains(run.err, "missing .done"));
  int captures = 0;
  for (const auto& entry : fs::directory_iterator(demo.root() / "out")) {
    ++captures;
    CHECK(fs::exists(entry.path() / "sqlite" / "msprof.db"));
  }
  CHECK(captures == 1);
}

TEST_CASE("Repeated runs of the demo can be compared, with their noise") {
  const BuiltDemo demo;
  const auto repeat = [&](const std::string& model) {
    const Finished run = collect(demo, {"-m", "main", "--repeat", "3", "--all", "-q", "--output",
                                        "../out", "--", "--images", "6", "--model", model});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
  };
  repeat("face_mask");
  repeat("face_mask_fused");
  const fs::path out = demo.root() / "out";
  const auto run = [](const std::vector<std::string>& words) {
    RunResult result = run_program(MSPROF_PROGRAM, words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  };
  const Json compared =
      Json::parse(run({"compare", out / "main.runs", out / "main.runs~2", "--json"}));
  for (const char* side : {"base", "new"}) {
    INFO(side);
    // The warm-up run is not included.
    CHECK(compared.at(side).at("runs").size() == 3);
    for (const Json& one : compared.at(side).at("runs"))
      CHECK(contains(one.get<std::string>(), " of 3"));
  }
  const std::string listed = run({"list", out});
  CHECK(contains(listed, "run 2 of 3"));
  CHECK(contains(listed, "warm-up 1 of 1"));
  const Json list = Json::parse(run({"list", out, "--json"}));
  CHECK(list.at("captures").size() == 8);
}
