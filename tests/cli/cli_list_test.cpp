// msprof list: the captures and their contents; and the headers of show and compare.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json listed(const std::string& folder, int exit_code = 0) {
  const auto result = run_msprof({"list", folder, "--json"});
  INFO(result.err);
  CHECK(result.exit_code == exit_code);
  const json document = json::parse(result.out);
  CHECK(document.at("schema") == "msprof.list/1");
  CHECK(document.at("exit_code") == exit_code);
  return document.at("captures");
}

std::string run_json(const std::string& begin, const std::string& host) {
  return json{{"schema", "msprof.run/1"},
              {"begin", begin},
              {"host", host},
              {"board", {{"system", "Linux"}, {"machine", "aarch64"}, {"product", "SS928"}}},
              {"command", {"main", "--images", "a b"}}}
      .dump();
}

// Three executions of two layers: 30, 50 and 100 cycles at 1000 MHz.
JobBuilder make_counted(const fs::path& parent, const std::string& name) {
  JobBuilder job(parent, name);
  std::vector<AicoreRecord> records;
  const std::uint64_t cycles[] = {30, 100, 50};
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint32_t layer = 0; layer < 2; ++layer) {
      AicoreRecord record{.layer_id = layer, .start_ns = 1000 * i, .total = cycles[i] / 2};
      record.execution = i;
      records.push_back(record);
    }
  }
  job.info_json("1000").net_info("net", 1).data(DataName{.batch = 4}, aicore_file(records));
  return job;
}

}  // namespace

TEST_CASE("list finds captures of both dialects at any depth, the newest first") {
  const TempFolder folder;
  set_age(make_face(folder / "a/b/c", "JOBDEEP"), 60);
  set_age(make_face(folder.path(), "JOBTOP"), 30);
  prof::make_run(folder / "atlas", {}, {});
  make_face(folder / ".hidden", "JOBHIDDEN");
  fs::create_directory_symlink(folder / "a", folder / "link");
  fs::create_directories(folder / "empty/JOBNOTHING");
  const json captures = listed(folder.path().string());
  std::vector<std::string> names;
  for (const json& capture : captures)
    names.push_back(fs::path(capture.at("folder").get<std::string>()).filename());
  REQUIRE(names.size() == 3);
  CHECK(captures[0].at("dialect") == "cann");
  CHECK(names[1] == "JOBDEEP");
  CHECK(captures[1].at("time") == "2020-01-01 00:01:00 UTC");
  CHECK(names[2] == "JOBTOP");
  for (const json& capture : captures) {
    CHECK(capture.at("verdict").is_null());
    CHECK(capture.at("verdict_text") == "not imported");
    CHECK(capture.at("bytes").get<std::uint64_t>() > 0);
  }
}

TEST_CASE("folders skipped by list, a glob and a search are reported with the reason") {
  const TempFolder folder;
  make_face(folder.path(), "JOBA");
  make_face(folder / "deep", "JOBB");
  write_file(folder / "deep/JOBNODATA/info.json.0", "{}");
  const std::string reason = "JOBNODATA has no data folder: no model was executed";
  RunOptions here;
  here.folder = folder.path();
  const auto list = run_msprof({"list"}, here);
  CHECK(list.exit_code == 0);
  CHECK(contains(list.out, "JOBA"));
  CHECK(contains(list.err, "not listed: "));
  CHECK(contains(list.err, reason));
  const auto document = json::parse(run_msprof({"list", "--json"}, here).out);
  REQUIRE(document.at("skipped").size() == 1);
  CHECK(contains(document.at("skipped")[0].at("reason").get<std::string>(), reason));

  const auto glob = run_msprof({"import", "-q", "-dir", "deep/JOB*"}, here);
  CHECK(glob.exit_code == 4);
  CHECK(contains(glob.err, reason));
  CHECK(fs::exists(folder / "deep/JOBB/sqlite"));
  const auto all = run_msprof({"import", "-q", "-dir", "deep"}, here);
  CHECK(all.exit_code == 0);
  CHECK(contains(all.err, "skipped: "));
  CHECK(contains(all.err, reason));
  // The newest run recorded nothing; the message explains why another one is shown.
  const auto newest = run_msprof({"show", "-q"}, here);
  CHECK(contains(newest.err, reason));
}

TEST_CASE("times are local with their zone, and UTC in documents") {
  const TempFolder folder;
  auto job = make_face(folder.path(), "JOBA");
  write_file(job.folder() / "run.json", run_json("2026-01-02T03:04:05.678Z", "root@10.0.0.1"));
  const std::string dir = job.folder().string();
  for (const auto& [zone, shown] : {std::pair{"UTC", "2026-01-02 03:04 UTC"},
                                    {"CST-8", "2026-01-02 11:04 UTC+8"},
                                    {"IST-5:30", "2026-01-02 08:34 UTC+5:30"},
                                    {"EST5", "2026-01-01 22:04 UTC-5"}}) {
    RunOptions there;
    there.variables = {{"TZ", zone}};
    INFO(zone);
    CHECK(contains(run_msprof({"list", folder.path().string()}, there).out, shown));
    const std::string time = std::string(shown).insert(16, ":05");
    CHECK(contains(run_msprof({"show", "-q", "-dir", dir}, there).out, time));
    // query prints the same data as run.json.
    CHECK(contains(run_msprof({"query", "-q", "-dir", dir}, there).out,
                   "collected  " + std::string(shown).insert(16, ":05.678")));
    const auto document =
        json::parse(run_msprof({"query", "-q", "--json", "-dir", dir}, there).out);
    CHECK(document.at("captures")[0].at("begin_utc") == "2026-01-02 03:04:05.678 UTC");
  }
}

TEST_CASE("list shows executions, their median and the verdict of imported captures") {
  const TempFolder folder;
  const auto job = make_counted(folder.path(), "JOBA");
  json before = listed(folder.path().string()).at(0);
  CHECK(before.at("models") == json{"net"});
  CHECK(before.at("batches") == json{"4"});
  CHECK(before.at("executions").is_null());
  REQUIRE(run_msprof({"import", "-dir", job.folder().string(), "-q"}).exit_code == 0);
  const json capture = listed(folder.path().string()).at(0);
  CHECK(capture.at("models") == json{"net"});
  CHECK(capture.at("batches") == json{"4"});
  CHECK(capture.at("executions") == 3);
  CHECK(capture.at("median_us") == 0.05);
  CHECK(capture.at("unit_loads") == "modelled");
  CHECK(capture.at("verdict") != "partial");

  const auto partial = make_partial(folder / "b", "JOBB");
  run_msprof({"import", "-dir", partial.folder().string(), "-q"});
  const auto table = run_msprof({"list", folder.path().string()});
  CHECK(table.exit_code == 0);
  CHECK(contains(table.out, "PARTIAL DATA"));
  CHECK(contains(table.out, "b/JOBB"));
}

TEST_CASE("list counts the iterations of a capture of an Atlas machine") {
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 200;
  const fs::path prof = prof::make_run(folder.path(), {}, shape).folder;
  run_msprof({"import", "-q", "-dir", prof.string()});
  const json capture = listed(folder.path().string()).at(0);
  const auto rows = query(prof / "sqlite/msprof.db", "SELECT count(*) FROM iteration");
  CHECK(capture.at("executions").is_null() == (rows.at(0) == "0"));
  if (rows.at(0) != "0") CHECK(std::to_string(capture.at("executions").get<int>()) == rows.at(0));
  CHECK(capture.at("verdict").is_string());
}

TEST_CASE("run.json gives the time of a capture and the first line of show and compare") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto other = make_face(folder.path(), "JOBB");
  job.folder();
  write_file(job.folder() / "run.json", run_json("2026-01-02T03:04:05.678Z", "root@10.0.0.1"));
  const json capture = listed(job.folder().string()).at(0);
  CHECK(capture.at("time") == "2026-01-02 03:04:05 UTC");
  CHECK(capture.at("run").at("host") == "root@10.0.0.1");

  const std::string line =
      "2026-01-02 03:04:05 UTC, root@10.0.0.1 (Linux aarch64, SS928), main --images 'a b'";
  const std::string dir = job.folder().string();
  const auto shown = run_msprof({"show", "-dir", dir});
  CHECK(shown.out.starts_with(dir + "\n" + line + "\n"));
  const json shown_json = json::parse(run_msprof({"show", "--json", "-dir", dir}).out);
  CHECK(shown_json.at("captures").at(0).at("run").at("begin") == "2026-01-02T03:04:05.678Z");

  const std::string page = (folder / "page.html").string();
  const auto compared = run_msprof({"compare", dir, other.folder().string(), "--html", page});
  CHECK(contains(compared.out, line));
  CHECK(contains(read_file(page), "2026-01-02 03:04:05 UTC, root@10.0.0.1"));
}

TEST_CASE("a foreign run.json cannot control the terminal or the page") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string odd = "a\x1b[2J<script>alert(1)</script>\n";
  write_file(job.folder() / "run.json", run_json("2026-01-02T03:04:05.678Z", odd));
  const std::string dir = job.folder().string();
  const auto shown = run_msprof({"show", "-dir", dir});
  CHECK_FALSE(contains(shown.out, "\x1b"));
  const std::string page = (folder / "page.html").string();
  run_msprof({"compare", dir, dir, "--html", page});
  CHECK_FALSE(contains(read_file(page), "<script>alert"));
  CHECK(run_msprof({"list", folder.path().string()}).exit_code == 0);
}

TEST_CASE("list shows the ranks of a training job, imported or not") {
  const TempFolder folder;
  make_face(folder.path(), "JOBA");
  CHECK_FALSE(contains(run_msprof({"list", folder.path().string()}).out, "Rank"));
  prof::ProfSetup setup;
  setup.info["rank_id"] = "5";
  const fs::path own = prof::make_run(folder / "own", setup, {}).folder;
  const fs::path named = prof::make_run(folder / "worker_ascend_pt", {}, {}).folder;
  write_file(folder / "worker_ascend_pt/profiler_info_3.json", "{}");
  const auto ranks = [&] {
    std::vector<std::string> found;
    for (const json& capture : listed(folder.path().string()))
      found.push_back(fs::path(capture.at("folder").get<std::string>())
                          .lexically_relative(folder.path())
                          .begin()
                          ->string() +
                      " " + capture.at("rank").dump());
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<std::string> expected = {"JOBA null", "own 5", "worker_ascend_pt 3"};
  CHECK(ranks() == expected);
  run_msprof({"import", "-q", "-dir", own.string()});
  run_msprof({"import", "-q", "-dir", named.string()});
  CHECK(ranks() == expected);
  CHECK(contains(run_msprof({"list", folder.path().string()}).out, "Rank"));
}

TEST_CASE("list reports an unreadable run.json and continues") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const std::string deep = R"({"schema": "msprof.run/1", "layout": {"json": {"a": )" +
                           std::string(100'000, '[') + std::string(100'000, ']') + "}}}";
  write_file(job.folder() / "run.json", deep);
  const auto said = run_msprof({"list", folder.path().string()});
  CHECK(said.exit_code == 0);
  CHECK(contains(said.err, "JOBA/run.json is nested too deeply"));
  CHECK(listed(folder.path().string()).at(0).at("run_problem") == "is nested too deeply");
  CHECK(run_msprof({"show", "-dir", job.folder().string()}).exit_code == 0);
}

TEST_CASE("list does not import for an invalid or hostile store") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  fs::create_directories(job.store().parent_path());
  write_file(job.store(), GENERATE(as<std::string>{}, "", "no database", std::string(9000, 'S')));
  CHECK(listed(folder.path().string()).at(0).at("verdict_text") == "not imported");
}

TEST_CASE("list reports a missing capture or folder") {
  const TempFolder folder;
  CHECK(listed(folder.path().string(), 4).empty());
  const auto missing = run_msprof({"list", (folder / "none").string()});
  CHECK(missing.exit_code == 4);
  CHECK(contains(missing.err, "no such folder"));
}
