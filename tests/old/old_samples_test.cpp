// Tables of JOB folders, compared with values that the test itself reads from the raw bytes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <optional>

#include "golden/shared_cases.hpp"
#include "old/old_capture.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

template <typename Number>
Number at(const std::string& bytes, std::size_t offset) {
  Number value = 0;
  std::memcpy(&value, &bytes.at(offset), sizeof(value));
  return value;
}

// The bytes of the file in `folder` whose name starts with `begin`.
std::string read_bytes(const fs::path& folder, const std::string& begin) {
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(begin) && !name.ends_with(".done")) return read_file(folder / name);
  }
  return {};
}

// Rows of step_trace: tag, task, stream, tick in 20 bytes each; tag 1 is forward, 2 the end of
// backward, 255 the end.
std::vector<std::string> read_steps(const std::string& trace) {
  std::vector<std::string> rows;
  std::optional<std::uint64_t> start, forward, backward;
  int number = 0;
  for (std::size_t offset = 0; offset + 20 <= trace.size(); offset += 20) {
    const auto tag = at<std::uint64_t>(trace, offset);
    const auto tick = at<std::uint64_t>(trace, offset + 12);
    if (tag == 1) forward = tick;
    if (tag == 2) backward = tick;
    if (tag != 255) continue;
    ++number;
    if (forward && backward) {
      const std::uint64_t begin = start.value_or(*forward);
      rows.push_back(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", number, begin, tick, tick - begin,
                                 *forward, *backward, *forward - begin, *backward - *forward,
                                 tick - *backward));
    }
    start = tick;
    forward.reset();
    backward.reset();
  }
  return rows;
}

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;
  bool operator==(const Sum&) const = default;
};
using Sums = std::map<std::string, Sum>;  // by "stream/task"

// Pairs each start with the next end of the same stream and task: type, task, tick and stream in 64
// bytes each.
Sums pair_runs(const std::string& hwts) {
  Sums sums;
  std::map<std::string, std::uint64_t> open;
  for (std::size_t offset = 0; offset + 64 <= hwts.size(); offset += 64) {
    const unsigned type = at<std::uint8_t>(hwts, offset) & 7;
    const auto tick = at<std::uint64_t>(hwts, offset + 8);
    const std::string key = fmt::format("{}/{}", at<std::uint32_t>(hwts, offset + 16),
                                        at<std::uint16_t>(hwts, offset + 6));
    if (type == 0) open[key] = tick;
    if (type != 1 || !open.contains(key)) continue;
    ++sums[key].count;
    sums[key].ticks += tick - open[key];
    open.erase(key);
  }
  return sums;
}

}  // namespace

TEST_CASE("Steps of a real JOB folder equal those read by hand from its training_trace") {
  if (!has_cases_or_skip("old")) return;
  const fs::path job = shared_folder() / "samples" / "classic_job" / "JOB1";
  const auto steps = read_steps(read_bytes(job, "training_trace."));
  REQUIRE(steps.size() > 1);
  CHECK(OldCapture(job).table("step_trace").cells() == steps);
}

TEST_CASE("Runs, their counts and times equal those of the hwts pairs, read by hand") {
  if (!has_cases_or_skip("old")) return;
  const fs::path job = prof_in(shared_folder() / "cases" / "old" / "classic_a" / "input");
  const OldCapture capture(job);
  const Sums raw = pair_runs(read_bytes(job / "data", "hwts.log.data."));
  Sums shown;
  const CsvTable runs = capture.table("runs");
  REQUIRE(runs.header.size() == 5);
  for (const auto& row : runs.rows) {
    Sum& sum = shown[row[1] + "/" + row[2]];
    ++sum.count;
    sum.ticks += std::stoull(row[4]);
  }
  REQUIRE(shown.size() > 10);
  // Runs of tasks without an operator are counted, but have no row.
  std::uint64_t all = 0;
  std::uint64_t without = 0;
  for (const auto& [key, sum] : raw) {
    all += sum.count;
    if (shown.contains(key)) {
      INFO(key);
      CHECK(shown[key] == sum);
    } else {
      without += sum.count;
    }
  }
  const auto counts = capture.table("counts").cells();
  CHECK(std::count(counts.begin(), counts.end(), fmt::format("tasks_paired|{}", all)) == 1);
  CHECK(std::count(counts.begin(), counts.end(),
                   fmt::format("tasks_without_operator|{}", without)) == 1);
}
