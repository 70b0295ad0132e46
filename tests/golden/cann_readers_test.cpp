// Details on which readers of the vendor's products rely: when files appear, the order of
// processes, the ends and ids of arrows, files in the host's folder, names of older versions.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "golden/timeline_file.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

// A run with data for every kind of timeline arrow.
struct PlayedRun {
  TempFolder folder;
  MadeRun run;

  PlayedRun() : run(make_run(folder.path(), setup(), shape())) {}

  static ProfSetup setup() {
    ProfSetup setup;
    setup.devices = {0, 1};
    return setup;
  }
  static RunShape shape() {
    RunShape shape;
    shape.tasks = 400;
    return shape;
  }
  RunResult msprof(Lines words) const {
    words.insert(words.end(), {"-q", "-dir", run.folder.string()});
    return run_msprof(words);
  }
  fs::path products() const { return run.folder / "mindstudio_profiler_output"; }
  Json timeline() const {
    for (const std::string& name : names_in(products()))
      if (name.starts_with("msprof_2")) return Json::parse(read_file(products() / name));
    FAIL("no timeline");
    return {};
  }
};

// Counts the arrow ends of one category by phase.
std::map<std::string, std::size_t> count_ends(const Json& events, std::string_view category) {
  std::map<std::string, std::size_t> ends;
  for (const Json& event : events) {
    const std::string phase = event.at("ph");
    if ((phase == "t" || phase == "f") && event.at("cat") == category) ++ends[phase];
  }
  return ends;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Lists ids that are not numbers, and ids that start several arrows.
Lines wrong_ids(const Json& events) {
  Lines wrong;
  std::set<std::pair<std::string, std::string>> begun;
  for (const Json& event : events) {
    const std::string phase = event.at("ph");
    if (phase != "s" && phase != "t" && phase != "f") continue;
    const std::string id = event.at("id");
    if (!is_number(id)) wrong.push_back(id);
    if (phase == "s" && !begun.emplace(event.at("cat"), id).second) wrong.push_back(id);
  }
  return wrong;
}

std::int64_t changed_at(const fs::path& path) {
  struct stat file = {};
  REQUIRE(::stat(path.c_str(), &file) == 0);
  return std::int64_t{file.st_ctim.tv_sec} * 1'000'000'000 + file.st_ctim.tv_nsec;
}

}  // namespace

TEST_CASE("timelines of a capture are named before any CSV file") {
  const PlayedRun played;
  REQUIRE(played.msprof({"export", "all"}).exit_code == 0);
  std::int64_t last_timeline = 0;
  std::int64_t first_table = INT64_MAX;
  for (const std::string& name : names_in(played.products())) {
    // Renaming is the last change of a file.
    const std::int64_t at = changed_at(played.products() / name);
    const bool is_timeline = name.ends_with(".json") && !name.starts_with("prof_rule");
    if (is_timeline) last_timeline = std::max(last_timeline, at);
    if (name.ends_with(".csv")) first_table = std::min(first_table, at);
  }
  CHECK(last_timeline > 0);
  CHECK(last_timeline <= first_table);
  CHECK(first_table < INT64_MAX);
}

TEST_CASE("Communication is before Ascend Hardware in a timeline") {
  const PlayedRun played;
  REQUIRE(played.msprof({"export", "timeline"}).exit_code == 0);
  Lines processes;
  for (const Json& event : played.timeline()) {
    if (event.at("name") != "process_name") continue;
    const std::string name = event.at("args").at("name");
    if (name != "Communication" && name != "Ascend Hardware") continue;
    if (std::find(processes.begin(), processes.end(), name) == processes.end())
      processes.push_back(name);
  }
  CHECK(processes == Lines{"Communication", "Ascend Hardware"});
}

TEST_CASE("the vendor's style ends every arrow with f, our own all but the last with t") {
  const PlayedRun played;
  REQUIRE(played.msprof({"export", "timeline"}).exit_code == 0);
  auto ours = count_ends(played.timeline(), "HostToDevice");
  CHECK(ours["t"] > 0);
  const std::size_t count = ours["t"] + ours["f"];
  const std::string output = "--output=" + played.run.folder.string();
  for (const Lines& words :
       {Lines{"--export=on", output}, Lines{"--export=on", output, "--summary-format=json"},
        Lines{"export", "all", "--arrow-ends", "every", "-dir", played.run.folder.string()}}) {
    CAPTURE(words);
    REQUIRE(run_msprof(words).exit_code == 0);
    CHECK(count_ends(played.timeline(), "HostToDevice") ==
          std::map<std::string, std::size_t>{{"f", count}});
    CHECK(count_ends(played.timeline(), "MsTx").count("t") == 0);
  }
}

TEST_CASE("arrow ids are numbers and unique") {
  const PlayedRun played;
  REQUIRE(played.msprof({"export", "timeline"}).exit_code == 0);
  CHECK(count_ends(played.timeline(), "Data_aug Bound")["f"] == 4);
  for (const std::string& name : names_in(played.products())) {
    if (!name.ends_with(".json")) continue;
    INFO(name);
    CHECK(wrong_ids(Json::parse(read_file(played.products() / name))) == Lines{});
  }
  REQUIRE(played.msprof({"export", "timeline", "--style", "cann5"}).exit_code == 0);
  const Json steps =
      Json::parse(read_file(played.run.folder / "device_0" / "timeline" / "step_trace_0.json"));
  CHECK(count_ends(steps, "Data_aug Bound")["t"] == 3);
  CHECK(wrong_ids(steps) == Lines{});
}

TEST_CASE("an export keeps application ranges readable for msserviceprofiler") {
  ProfCapture run;
  TxMark plain;
  plain.thread = 7;
  plain.category = 5;
  plain.event = 1;
  plain.begin = run.scene.setup().host_at(1000);
  plain.end = run.scene.setup().host_at(2000);
  plain.message = "plain";
  run.prof.host(plain);
  TxMark mark;
  mark.is_ex = true;
  mark.thread = 8;
  mark.event = 2;
  mark.begin = run.scene.setup().host_at(3000);
  mark.end = run.scene.setup().host_at(4000);
  mark.mark = 17;
  mark.domain = run.prof.hash("requests");
  mark.segment = 1;
  mark.message = "*{\"a\":1}";
  run.prof.host(mark);
  mark.segment = 0;
  mark.message = "span=17";
  run.prof.host(mark);
  mark.segment = 0;
  mark.mark = 18;
  mark.domain = 999;  // missing in all dictionaries
  mark.message = "other";
  run.prof.host(mark);
  run.prof.finish();
  const fs::path db = run.prof.folder() / "host" / "sqlite" / "msproftx.db";
  const fs::path complete = run.prof.folder() / "host" / "data" / "all_file.complete";
  const std::string output = "--output=" + run.prof.folder().string();
  const Lines commands[] = {{"--export=on", output},
                            {"--export=on", "--type=db", output},
                            {"--export=on", "--summary-format=json", output},
                            {"export", "all", "-dir", run.prof.folder().string()},
                            {"export", "db", "-dir", run.prof.folder().string()}};
  for (const Lines& words : commands) {
    CAPTURE(words);
    fs::remove(db);
    fs::remove(complete);
    REQUIRE(run_msprof(words).exit_code == 0);
    const auto count = [&](std::uint64_t ns) {
      return std::to_string(run.scene.setup().host_at(ns));
    };
    CHECK(query(db, "SELECT * FROM MsprofTxEx") ==
          Lines{"4321|8|start/end|" + count(3000) + "|" + count(4000) +
                    "|17|requests|span=17*{\"a\":1}",
                "4321|8|start/end|" + count(3000) + "|" + count(4000) + "|18|invalid|other"});
    CHECK(query(db, "SELECT * FROM MsprofTx") ==
          Lines{"4321|7|5|push/pop|0|0|" + count(1000) + "|" + count(2000) + "|0|plain"});
    CHECK(fs::exists(complete));
    CHECK(fs::file_size(complete) == 0);
  }
  // These files are not input data: the store stays up to date, and the verdict is unchanged.
  const auto before = fs::last_write_time(run.prof.store());
  CHECK(run.run({"show"}).exit_code == 0);
  CHECK(fs::last_write_time(run.prof.store()) == before);
  CHECK(run.import(0).at("findings").dump().find("host/") == std::string::npos);
  // A link may lead to other programs' files.
  const fs::path elsewhere = run.folder / "elsewhere";
  fs::create_directory(elsewhere);
  fs::remove_all(db.parent_path());
  fs::create_directory_symlink(elsewhere, db.parent_path());
  CHECK(run.run({"export", "db"}).exit_code == 0);
  CHECK(names_in(elsewhere) == Lines{});
  // The files are written only into the capture, not into another output folder.
  const TempFolder out;
  REQUIRE(run.run({"export", "all", "--output", out.path().string()}).exit_code == 0);
  CHECK_FALSE(fs::exists(out / "host"));
}

TEST_CASE("--style cann8 has the names of CANN 8.0 to 8.5 in tables and database") {
  const PlayedRun played;
  REQUIRE(played.msprof({"export", "all"}).exit_code == 0);
  const auto header = [&] {
    const CsvTable table = read_product(played.products(), "op_summary");
    return table.header;
  };
  const auto db = [&] {
    for (const std::string& name : names_in(played.run.folder))
      if (name.starts_with("msprof_") && name.ends_with(".db")) return played.run.folder / name;
    FAIL("no database");
    return fs::path();
  };
  const auto columns = [&] {
    return query(db(), "SELECT name FROM pragma_table_info('COMPUTE_TASK_INFO')");
  };
  const Lines now = header();
  const Lines tables = columns();
  const std::string blocks = "FROM COMPUTE_TASK_INFO";
  const Lines counts =
      query(db(), "SELECT blockNum, mixBlockNum " + blocks + " ORDER BY globalTaskId");
  const Lines rows = read_product(played.products(), "op_summary").cells();
  REQUIRE(played.msprof({"export", "all", "--style", "cann8"}).exit_code == 0);
  Lines then = now;
  for (std::string& name : then) {
    if (name == "Block Num") name = "Block Dim";
    if (name == "Mix Block Num") name = "Mix Block Dim";
  }
  CHECK(then != now);
  CHECK(header() == then);
  CHECK(read_product(played.products(), "op_summary").cells() == rows);
  Lines expected = tables;
  expected.resize(expected.size() - 2);  // gridDim, and a blockDim with another meaning
  expected[2] = "blockDim";
  expected[3] = "mixBlockDim";
  CHECK(columns() == expected);
  CHECK(query(db(), "SELECT blockDim, mixBlockDim " + blocks + " ORDER BY globalTaskId") == counts);
  CHECK(query(db(), "SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'") == Lines{"1.0.0"});
  REQUIRE(played.msprof({"export", "db", "--style", "cann8"}).exit_code == 0);
  CHECK(columns() == expected);
  REQUIRE(played.msprof({"export", "summary", "--style", "cann8", "--format", "json"}).exit_code ==
          0);
  for (const std::string& name : names_in(played.products())) {
    if (!name.starts_with("op_summary") || !name.ends_with(".table.json")) continue;
    CHECK(read_file(played.products() / name).find("\"Block Dim\":") != std::string::npos);
  }
  // Rules that read a table use its current names.
  CHECK(played.msprof({"advise"}).exit_code == 0);
}
