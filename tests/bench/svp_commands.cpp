// svp_commands MSPROF FOLDER [RECORDS]: whole commands over a generated capture, as ratios to a
// bare insert of the same rows and a bare write of the same bytes in the same run. Medians of five
// rounds.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "command_runs.hpp"
#include "svp_baselines.hpp"

namespace {

namespace fs = std::filesystem;
using namespace msprof::bench;

constexpr int kRounds = 5;

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: svp_commands MSPROF FOLDER [RECORDS]\n");
    return 2;
  }
  const std::string msprof = argv[1];
  const fs::path scratch = fs::path(argv[2]) / "svp_commands";
  const std::int64_t records = argc > 3 ? std::atoll(argv[3]) : 1'000'000;
  fs::remove_all(scratch);
  const fs::path job = scratch / "JOBBENCH";
  const std::uint64_t raw_bytes = make_capture(job, records);

  std::vector<double> inserts;
  std::vector<double> writes;
  std::vector<CommandRun> imports;
  std::vector<CommandRun> timelines;
  std::vector<CommandRun> summaries;
  std::vector<CommandRun> alls;
  std::uint64_t timeline_bytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    inserts.push_back(bare_insert_seconds(scratch / "bare.db", records));
    imports.push_back(run_command({msprof, "import", "-q", "-dir", job.string()}));
    timelines.push_back(run_command({msprof, "export", "timeline", "-q", "-dir", job.string()}));
    timeline_bytes = bytes_in(job / "timeline");
    writes.push_back(bare_write_seconds(scratch / "bare.json", timeline_bytes));
    summaries.push_back(run_command({msprof, "export", "summary", "-q", "-dir", job.string()}));
    for (const char* made : {"sqlite", "timeline", "summary"}) fs::remove_all(job / made);
    alls.push_back(run_command({msprof, "export", "all", "-q", "-dir", job.string()}));
  }

  const double rows = static_cast<double>(records);
  const double json_mb = static_cast<double>(timeline_bytes) / 1e6;
  fmt::print("svp, {} records, {:.0f} MB raw, medians of {} rounds\n", records,
             static_cast<double>(raw_bytes) / 1e6, kRounds);
  fmt::print(
      "  import           {:6.2f} x the rate of a bare insert of the same rows (goal 0.6): "
      "{:.2f} M records/s, bare {:.2f} M/s, peak {:.0f} MB (goal 128)\n",
      median(inserts) / median_seconds(imports), rows / median_seconds(imports) / 1e6,
      rows / median(inserts) / 1e6, peak_mb(imports));
  fmt::print(
      "  export timeline  {:6.2f} x the rate of a bare write of the same bytes (goal 0.5, or 150 "
      "MB/s): "
      "{:.0f} MB/s, bare {:.0f} MB/s, peak {:.0f} MB\n",
      median(writes) / median_seconds(timelines), json_mb / median_seconds(timelines),
      json_mb / median(writes), peak_mb(timelines));
  fmt::print(
      "  export summary   {:6.2f} x the rate of a bare insert of the same rows: {:.2f} M "
      "records/s, "
      "peak {:.0f} MB\n",
      median(inserts) / median_seconds(summaries), rows / median_seconds(summaries) / 1e6,
      peak_mb(summaries));
  fmt::print(
      "  all from raw     {:6.2f} x the time of a bare insert and a bare write of the timeline: "
      "{:.2f} s, {:.2f} s a million (goal 0.9), peak {:.0f} MB\n",
      median_seconds(alls) / (median(inserts) + median(writes)), median_seconds(alls),
      median_seconds(alls) / rows * 1e6, peak_mb(alls));
  fs::remove_all(scratch);
  return 0;
}
