// The tuning case study on two CANN 5 captures: one command shows the most expensive operator, the
// time of an execution, and the time saved by the fused model.
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "old/old_records.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr int kBlocks = 20;
constexpr std::uint64_t kTicksOfMs = 100'000;

// A run of one execution of a model: kBlocks blocks of these operators, each with its ticks.
void write_execution(const fs::path& folder, std::uint64_t execute_ns,
                     const std::vector<std::pair<std::string, std::uint64_t>>& block) {
  std::string hwts, tasks;
  unsigned record = 0;
  std::uint16_t task = 1;
  const std::uint64_t begin = kOldTicks + kTicksOfMs;
  std::uint64_t tick = begin + 100;
  for (int i = 0; i < kBlocks; ++i) {
    for (const auto& [type, ticks] : block) {
      tasks += task_desc("block" + std::to_string(i) + "/" + type, type, 0, 3, task);
      hwts += hwts_record(0, record++, task, tick, 3);
      hwts += hwts_record(1, record++, task, tick + ticks, 3);
      tick += ticks + 10;
      ++task;
    }
  }
  const fs::path data = folder / "device_0/data";
  write_old_info(folder / "device_0");
  write_file(data / "hwts.data.0.slice_0", hwts);
  write_file(data / "ts_track.data.0.slice_0", step_mark(begin, 0) + step_mark(tick + 100, 1));
  write_file(data / "Framework.task_desc_info.0.slice_0", tasks);
  write_file(data / "AclModule.acl_model.0.slice_0",
             acl_call("aclmdlExecute", old_ns(begin), old_ns(begin) + execute_ns));
}

}  // namespace

TEST_CASE("One command reproduces the CANN 5.1 case study from two captures of that time") {
  const TempFolder temp;
  const fs::path before = temp / "PROF_before", after = temp / "PROF_after";
  write_execution(before, 7'209'000, {{"Conv2D", 15'000}, {"BNInferenceD", 20'000}});
  write_execution(after, 2'305'000, {{"Conv2D", 11'000}});

  const RunResult table = run_msprof({"export", "summary", "-dir", before.string()});
  INFO(table.err);
  REQUIRE(table.exit_code == 0);
  std::string statistic;
  for (const auto& entry : fs::recursive_directory_iterator(before)) {
    if (entry.path().filename().string().starts_with("op_statistic")) statistic = entry.path();
  }
  REQUIRE_FALSE(statistic.empty());
  const std::string cells = read_file(statistic);
  INFO(cells);
  CHECK(cells.find("BNInferenceD") < cells.find("Conv2D"));  // the slowest first
  CHECK_THAT(cells, Catch::Matchers::Contains("20,4000"));

  const RunResult said = run_msprof({"compare", before.string(), after.string()});
  INFO(said.out << said.err);
  REQUIRE(said.exit_code == 0);
  for (const char* part : {"BNInferenceD", "Conv2D", "aclmdlExecute", "7209.000", "2305.000"})
    CHECK_THAT(said.out, Catch::Matchers::Contains(part));
}
