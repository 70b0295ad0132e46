// CANN applications on this host: imported counts must equal the applications' own counts.
#include <catch2/catch.hpp>

#include "acl/capture.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kNote = "host runtime: times measured, unit loads modelled";

// Runs a scenario that leaves `count` folders; import must report all of them as complete.
std::vector<ImportedCapture> run_and_import(const fs::path& scratch, const std::string& scenario,
                                            std::size_t count, WorkloadRun& run) {
  run = run_workload(scratch / "out", scenario);
  INFO(run.result.out << run.result.err);
  REQUIRE(run.result.exit_code == 0);
  REQUIRE(run.folders.size() == count);
  std::vector<ImportedCapture> captures;
  for (const fs::path& folder : run.folders) {
    captures.emplace_back(folder);
    INFO(folder << "\n" << captures.back().import().err);
    CHECK(captures.back().import().exit_code == 0);
    CHECK(contains(captures.back().import().err, "verdict: complete ("));
    CHECK(contains(captures.back().import().err, kNote));
  }
  return captures;
}

}  // namespace

TEST_CASE("a model that runs five times gives five executions of each operator") {
  const TempFolder folder;
  WorkloadRun run;
  const auto capture = run_and_import(folder.path(), "one_model", 1, run).front();
  CHECK(run.counts["executions"] == 5);
  CHECK(operator_tasks(capture) == 5 * kSmallModelLayers);
  CHECK(count_calls(capture, "aclmdlExecute") == 5);
  CHECK(count_calls(capture, "aclmdlLoadFromFile") == 1);
  CHECK(capture.number("SELECT count(*) FROM iteration") == 5);
  CHECK(capture.number(
            "SELECT count(*) FROM iteration WHERE fp_bp_ns > 0 AND fp_bp_ns < duration_ns") == 5);
  CHECK(capture.number("SELECT count(*) FROM task_pmu") >= 5 * (kSmallModelLayers - 1));
  CHECK(capture.text("SELECT text FROM device JOIN name ON name.id = chip_name_id") ==
        "host runtime");
  // Each task ran within the call that executed it.
  CHECK(
      capture.number(
          "SELECT count(*) FROM task WHERE op_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM api_call"
          " JOIN name ON name.id = api_call.name_id WHERE text = 'aclmdlExecute' AND"
          " api_call.start_ns <= task.start_ns AND"
          " api_call.end_ns >= task.start_ns + task.duration_ns)") == 0);
}

TEST_CASE("two rounds with other devices give one folder each, with their devices") {
  const TempFolder folder;
  WorkloadRun run;
  const auto captures = run_and_import(folder.path(), "two_rounds", 2, run);
  CHECK(run.counts["executions"] == 12);
  for (std::size_t round = 0; round < 2; ++round) {
    INFO(round);
    CHECK(captures[round].number("SELECT min(id) FROM device") == static_cast<long>(round));
    CHECK(captures[round].number("SELECT max(id) FROM device") == static_cast<long>(round) + 1);
    CHECK(operator_tasks(captures[round]) == 2 * 3 * kSmallModelLayers);
    CHECK(captures[round].number(
              "SELECT count(DISTINCT device_id) FROM task WHERE op_id IS NOT NULL") == 2);
  }
}

TEST_CASE("eight streams at once lose no task") {
  const TempFolder folder;
  WorkloadRun run;
  const auto capture = run_and_import(folder.path(), "eight_streams", 1, run).front();
  CHECK(run.counts["executions"] == 80);
  CHECK(operator_tasks(capture) == 80 * kSmallModelLayers);
  CHECK(count_calls(capture, "aclmdlExecuteAsync") == 80);
  CHECK(capture.number("SELECT count(DISTINCT stream_id) FROM task WHERE op_id IS NOT NULL") == 8);
}

TEST_CASE("a model with a dynamic batch is recorded with each batch") {
  const TempFolder folder;
  WorkloadRun run;
  const auto capture = run_and_import(folder.path(), "dynamic_batch", 1, run).front();
  CHECK(run.counts["executions"] >= 2);
  CHECK(operator_tasks(capture) == run.counts["executions"] * kSmallModelLayers);
  CHECK(run.counts["images"] > run.counts["executions"]);
}

TEST_CASE("stamps of four threads are all recorded, with the range shared by two") {
  const TempFolder folder;
  WorkloadRun run;
  const auto capture = run_and_import(folder.path(), "four_threads", 1, run).front();
  CHECK(run.counts["ranges"] == 2001);
  CHECK(run.counts["marks"] == 1000);
  const std::string ranges = "SELECT count(*) FROM user_range WHERE event_type = ";
  CHECK(capture.number(ranges + "0") == 1000);
  CHECK(capture.number(ranges + "1") == 2000);
  CHECK(capture.number(ranges + "2") == 1);
  CHECK(capture.number("SELECT count(DISTINCT thread_id) FROM user_range") == 5);
}

TEST_CASE("stamps without a device give a capture of only the host") {
  const TempFolder folder;
  WorkloadRun run;
  const auto capture = run_and_import(folder.path(), "host_only", 1, run).front();
  CHECK(capture.number("SELECT count(*) FROM user_range") == run.counts["ranges"]);
  CHECK(capture.number("SELECT count(*) FROM device") == 0);
  CHECK_FALSE(fs::exists(run.folders.front() / "device_0"));
}

TEST_CASE("copies are tasks with their bytes and direction") {
  const TempFolder folder;
  WorkloadRun run;
  const auto capture = run_and_import(folder.path(), "copies", 1, run).front();
  CHECK(run.counts["copies"] == 7);
  CHECK(capture.number(
            "SELECT count(*) FROM memcpy_task WHERE size_bytes = 4096 AND direction = 1") == 7);
  CHECK(count_calls(capture, "aclrtMemcpy") == 7);
}

TEST_CASE("each chip family of the runtime gives the same operators") {
  const TempFolder folder;
  for (const char* chip : {"5", "4", "1"}) {
    INFO(chip);
    const auto run = run_workload(folder.path() / chip, "one_model",
                                  {.variables = {{"MSPROF_HOST_CHIP", chip}}});
    INFO(run.result.err);
    REQUIRE(run.result.exit_code == 0);
    REQUIRE(run.folders.size() == 1);
    const ImportedCapture capture(run.folders.front());
    INFO(capture.import().err);
    CHECK(contains(capture.import().err, "verdict: complete ("));
    CHECK(operator_tasks(capture) == 5 * kSmallModelLayers);
    CHECK(capture.number("SELECT platform FROM device") == std::stol(chip));
  }
}

TEST_CASE("every product of a capture of the host runtime is written") {
  const TempFolder folder;
  const auto run = run_workload(folder.path() / "out", "one_model");
  REQUIRE(run.folders.size() == 1);
  const auto exported = run_msprof({"export", "all", "-dir", run.folders.front().string()});
  INFO(exported.err);
  CHECK(exported.exit_code == 0);
  for (const char* product :
       {"op_summary_", "task_time_", "op_statistic_", "api_statistic_", "step_trace_", "msprof_"}) {
    INFO(product);
    bool is_there = false;
    for (const auto& entry : fs::recursive_directory_iterator(run.folders.front()))
      is_there = is_there || entry.path().filename().string().starts_with(product);
    CHECK(is_there);
  }
}

TEST_CASE("every call fits on the smallest possible thread stack") {
  const TempFolder folder;
  std::vector<std::string> arguments = {folder.path(), small_model(folder.path())};
  if (GENERATE(true, false)) {
    const fs::path file = folder / "acl.json";
    write_file(file, R"({"profiler": {"switch": "on", "aicpu": "on", "output": ")" +
                         folder.path().string() + R"("}})");
    arguments.push_back(file);
  }
  const RunResult result = run_program(acl_program("small_stack"), arguments);
  INFO(result.out << result.err);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 0);
  CHECK(result.out.empty());
  CHECK(prof_folders(folder.path()).size() == 1);
}
