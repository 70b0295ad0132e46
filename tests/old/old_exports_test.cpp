// Default products of captures of CANN 5 and of 2019 to 2021, and the changes by --style current.
#include <catch2/catch.hpp>

#include "old/old_records.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

std::string two_runs() {
  std::string hwts;
  for (const std::uint64_t tick : {kOldTicks + 2000, kOldTicks + 5000}) {
    const auto records = static_cast<unsigned>(hwts.size() / 64);
    hwts += hwts_record(0, records, 5, tick, 3) + hwts_record(1, records + 1, 5, tick + 1000, 3);
  }
  return hwts;
}

fs::path make_old_prof(const fs::path& parent) {
  const fs::path folder = parent / "PROF_1";
  const fs::path data = folder / "device_0/data";
  write_old_info(folder / "device_0");
  write_file(data / "hwts.data.0.slice_0", two_runs());
  write_file(data / "ts_track.data.0.slice_0",
             step_mark(kOldTicks + 1000, 0) + step_mark(kOldTicks + 9000, 1));
  write_file(data / "Framework.task_desc_info.0.slice_0", task_desc("a/conv", "Conv2D", 0, 3, 5));
  write_file(data / "AclModule.acl_model.0.slice_0",
             acl_call("aclmdlExecute", old_ns(kOldTicks), old_ns(kOldTicks) + 90'000));
  return folder;
}

fs::path job_in(const fs::path& parent) {
  const fs::path folder = parent / "JOBABC";
  write_old_info(folder, false);
  write_file(folder / "data/hwts.log.data.45.dev.profiler_default_tag.0.slice_0", two_runs());
  write_file(folder / "data/Framework.host.vm.task_desc_info.0.slice_0",
             "Default/Conv-op1 2 5 3\n");
  return folder;
}

RunResult run(Names words, const fs::path& folder) {
  words.insert(words.end(), {"-dir", folder.string()});
  RunResult result = run_msprof(words);
  INFO(result.err);
  return result;
}

bool has(const fs::path& folder, const char* name) {
  return fs::exists(folder / name);
}

constexpr const char* kToday = "mindstudio_profiler_output";

}  // namespace

TEST_CASE("Every export of a CANN 5 capture has the files of that version by default") {
  for (const char* what : {"all", "summary", "timeline"}) {
    INFO(what);
    const TempFolder temp;
    const fs::path prof = make_old_prof(temp.path());
    REQUIRE(run({"export", what}, prof).exit_code == 0);
    const bool is_all = std::string(what) == "all";
    CHECK(has(prof, "device_0/summary/op_summary_0.csv") == (std::string(what) != "timeline"));
    CHECK(has(prof, "device_0/summary/prof_rule_0.json") == (std::string(what) != "timeline"));
    CHECK(has(prof, "timeline/msprof_0.json") == (std::string(what) != "summary"));
    CHECK_FALSE(has(prof, kToday));
    const auto names = names_in(prof);
    CHECK(is_all == std::any_of(names.begin(), names.end(), [](const std::string& name) {
            return name.starts_with("msprof_") && name.ends_with(".db");
          }));
  }
}

TEST_CASE("--style current gives a CANN 5 capture the current files") {
  for (const char* what : {"all", "summary", "timeline"}) {
    INFO(what);
    const TempFolder temp;
    const fs::path prof = make_old_prof(temp.path());
    REQUIRE(run({"export", what, "--style", "current"}, prof).exit_code == 0);
    CHECK_FALSE(names_in(prof / kToday).empty());
    CHECK(names_in(prof / "device_0/summary").empty());
    CHECK(names_in(prof / "timeline").empty());
  }
}

TEST_CASE("Options only for current timelines are refused for an old capture, with a remedy") {
  const TempFolder temp;
  const fs::path prof = make_old_prof(temp.path());
  const RunResult refused = run({"export", "timeline", "--format", "perfetto"}, prof);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Matchers::Contains("not supported with --style cann5") &&
                              Catch::Matchers::Contains("--style current"));
  CHECK(names_in(prof / "timeline").empty());
  CHECK(run({"export", "timeline", "--format", "perfetto", "--style", "current"}, prof).exit_code ==
        0);
  CHECK_FALSE(names_in(prof / kToday).empty());
}

TEST_CASE("All products of a JOB folder are in its summary and its timeline") {
  const TempFolder temp;
  const fs::path job = job_in(temp.path());
  REQUIRE(run({"export", "all"}, job).exit_code == 0);
  for (const char* name :
       {"summary/op_time_0.csv", "summary/runs_0.csv", "summary/op_summary_0.csv",
        "summary/prof_rule_0.json", "timeline/task_time_0.json", "timeline/msprof_0.json"}) {
    INFO(name);
    CHECK(has(job, name));
  }
  for (const char* name : {"device_0", "host", kToday}) {
    INFO(name);
    CHECK_FALSE(has(job, name));
  }
  // A later export recognizes these files as products.
  REQUIRE(run({"export", "summary"}, job).exit_code == 0);
  CHECK(has(job, "summary/prof_rule_0.json"));
}
