// svp_commands MSPROF FOLDER [RECORDS]: whole commands over a generated capture, as ratios to a
// bare insert of the same rows and a bare write of the same bytes in the same run. Medians of five
// rounds.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "svp_baselines.hpp"

extern char** environ;

namespace {

namespace fs = std::filesystem;
using namespace msprof::bench;

constexpr int kRounds = 5;

struct Run {
  double seconds = 0;
  double peak_mb = 0;
};

Run run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  int status = 0;
  rusage usage = {};
  if (posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0 ||
      wait4(pid, &status, 0, &usage) != pid || status != 0) {
    fmt::print(stderr, "failed: {}\n", fmt::join(words, " "));
    std::exit(1);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {seconds.count(), static_cast<double>(usage.ru_maxrss) * 1024 / 1e6};
}

template <typename Value, typename Get>
double median(std::vector<Value> values, Get&& get) {
  std::sort(values.begin(), values.end(),
            [&](const auto& a, const auto& b) { return get(a) < get(b); });
  return get(values[values.size() / 2]);
}

double median(const std::vector<double>& values) {
  return median(values, [](double value) { return value; });
}

double seconds(const std::vector<Run>& runs) {
  return median(runs, [](const Run& one) { return one.seconds; });
}

double peak_mb(const std::vector<Run>& runs) {
  return std::max_element(runs.begin(), runs.end(),
                          [](const Run& a, const Run& b) { return a.peak_mb < b.peak_mb; })
      ->peak_mb;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

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
  std::vector<Run> imports;
  std::vector<Run> timelines;
  std::vector<Run> summaries;
  std::uint64_t timeline_bytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    inserts.push_back(bare_insert_seconds(scratch / "bare.db", records));
    imports.push_back(run({msprof, "import", "-q", "-dir", job.string()}));
    timelines.push_back(run({msprof, "export", "timeline", "-q", "-dir", job.string()}));
    timeline_bytes = bytes_in(job / "timeline");
    writes.push_back(bare_write_seconds(scratch / "bare.json", timeline_bytes));
    summaries.push_back(run({msprof, "export", "summary", "-q", "-dir", job.string()}));
  }

  const double rows = static_cast<double>(records);
  const double json_mb = static_cast<double>(timeline_bytes) / 1e6;
  fmt::print("svp, {} records, {:.0f} MB raw, medians of {} rounds\n", records,
             static_cast<double>(raw_bytes) / 1e6, kRounds);
  fmt::print(
      "  import           {:6.2f} x the rate of a bare insert of the same rows (goal 0.6): "
      "{:.2f} M records/s, bare {:.2f} M/s, peak {:.0f} MB (goal 128)\n",
      median(inserts) / seconds(imports), rows / seconds(imports) / 1e6,
      rows / median(inserts) / 1e6, peak_mb(imports));
  fmt::print(
      "  export timeline  {:6.2f} x the rate of a bare write of the same bytes (goal 0.5, or 150 "
      "MB/s): "
      "{:.0f} MB/s, bare {:.0f} MB/s, peak {:.0f} MB\n",
      median(writes) / seconds(timelines), json_mb / seconds(timelines), json_mb / median(writes),
      peak_mb(timelines));
  fmt::print(
      "  export summary   {:6.2f} x the rate of a bare insert of the same rows: {:.2f} M "
      "records/s, "
      "peak {:.0f} MB\n",
      median(inserts) / seconds(summaries), rows / seconds(summaries) / 1e6, peak_mb(summaries));
  fs::remove_all(scratch);
  return 0;
}
