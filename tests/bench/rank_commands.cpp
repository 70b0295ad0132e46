// rank_commands MSPROF MAKE_RANKS FOLDER [TASKS [PARTS]]: makes the rank summaries of 64 ranks of
// TASKS tasks in two concurrent processes, compared with the imports only; merges them; does both
// for 8, 16 and 64 ranks; and merges a quarter, half and all of PARTS synthetic summaries.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

extern char** environ;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr int kRanks = 64;
constexpr int kPortion = 8;  // ranks whose folders exist at the same time
constexpr int kProcesses = 2;

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;
  double peak_mb = 0;  // peak memory of one process

  Cost& operator+=(const Cost& other) {
    wall_s += other.wall_s;
    cpu_s += other.cpu_s;
    peak_mb = std::max(peak_mb, other.peak_mb);
    return *this;
  }
};

pid_t start(Words words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) == 0) return pid;
  fmt::print(stderr, "cannot start {}\n", words.front());
  std::exit(1);
}

// Runs the commands, at most `at_a_time` at once.
Cost run_all(const std::vector<Words>& commands, int at_a_time) {
  Cost cost;
  const auto begin = std::chrono::steady_clock::now();
  std::size_t next = 0;
  int running = 0;
  while (running > 0 || next < commands.size()) {
    if (running < at_a_time && next < commands.size()) {
      start(commands[next++]);
      ++running;
      continue;
    }
    int status = 0;
    rusage usage = {};
    if (::wait4(-1, &status, 0, &usage) < 0 || status != 0) {
      fmt::print(stderr, "a command failed, the last was {}\n", commands[next - 1][1]);
      std::exit(1);
    }
    --running;
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    cost.cpu_s += seconds(usage.ru_utime) + seconds(usage.ru_stime);
    cost.peak_mb = std::max(cost.peak_mb, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  cost.wall_s = passed.count();
  return cost;
}

std::vector<fs::path> list_folder_entries(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

std::uint64_t total_bytes(const std::vector<fs::path>& files) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) bytes += fs::file_size(file);
  return bytes;
}

class RankBench {
 public:
  RankBench(std::string msprof, std::string make_ranks, fs::path scratch)
      : msprof_(std::move(msprof)),
        make_ranks_(std::move(make_ranks)),
        scratch_(std::move(scratch)) {
    fs::remove_all(scratch_);
    fs::create_directories(scratch_);
  }
  ~RankBench() {
    std::error_code ignored;
    fs::remove_all(scratch_, ignored);
  }

  void captures(const std::string& tasks) {
    const fs::path parts = scratch_ / "parts";
    fs::create_directories(parts);
    Cost alone, together, ranks;
    for (int first = 0; first < kRanks; first += kPortion) {
      const fs::path folders = scratch_ / "folders";
      run_all(
          {{make_ranks_, "folders", folders.string(), "--ranks", std::to_string(kRanks), "--tasks",
            tasks, "--first", std::to_string(first), "--count", std::to_string(kPortion)}},
          1);
      const std::vector<fs::path> captures = list_folder_entries(folders);
      std::vector<Words> imports, makes;
      for (const fs::path& capture : captures) {
        imports.push_back({msprof_, "import", "-q", "-dir", capture.string()});
        makes.push_back({msprof_, "rank", "-q", "-dir", capture.string(), "--output",
                         (parts / (capture.filename().string() + ".part")).string()});
      }
      const auto forget = [&] {
        for (const fs::path& capture : captures) fs::remove_all(capture / "sqlite");
      };
      alone += run_all(imports, 1);
      forget();
      together += run_all(imports, kProcesses);
      forget();
      ranks += run_all(makes, kProcesses);
      fs::remove_all(folders);
      const int done = first + kPortion;
      if (done == 8 || done == 16 || done == kRanks) whole(done, ranks, list_folder_entries(parts));
    }
    const double half = alone.wall_s / kProcesses;
    fmt::print(
        "  parts of {} ranks   {:6.2f} x half of the sum of imports (goal 1.15 or less): {:.1f} s, "
        "imports one after the other {:.1f} s, {:.2f} x imports two at a time: {:.1f} s\n",
        kRanks, ranks.wall_s / half, ranks.wall_s, alone.wall_s, ranks.wall_s / together.wall_s,
        together.wall_s);
    fmt::print("  CPU                 {:6.2f} x that of the imports: {:.1f} s, {:.1f} s\n",
               ranks.cpu_s / alone.cpu_s, ranks.cpu_s, alone.cpu_s);
    const std::vector<fs::path> files = list_folder_entries(parts);
    fmt::print("  a part              {:6.0f} kB for {} tasks\n",
               static_cast<double>(total_bytes(files)) / 1000 / kRanks, tasks);
    const Cost merged = merge(files);
    fmt::print("  merge of {} parts   {:6.2f} s (goal 0.5), peak {:.0f} MB (goal 100)\n", kRanks,
               merged.wall_s, merged.peak_mb);
    fs::remove_all(parts);
  }

  void synthetic(int count) {
    const fs::path parts = scratch_ / "parts";
    run_all({{make_ranks_, "parts", parts.string(), "--ranks", std::to_string(count), "--steps",
              "10", "--collectives", "100", "--operators", "500"}},
            1);
    std::vector<fs::path> files = list_folder_entries(parts);
    fmt::print("{} synthetic parts, {:.0f} MB\n", files.size(),
               static_cast<double>(total_bytes(files)) / 1e6);
    std::vector<double> seconds;
    for (const int divisor : {4, 2, 1}) {
      const std::vector<fs::path> some(files.begin(), files.begin() + count / divisor);
      const Cost merged = merge(some);
      seconds.push_back(merged.wall_s);
      fmt::print("  merge of {:5} parts {:6.2f} s{}, CPU {:.1f} s, peak {:.0f} MB (goal 256)\n",
                 some.size(), merged.wall_s, divisor == 1 ? " (goal 60)" : "", merged.cpu_s,
                 merged.peak_mb);
    }
    fmt::print("  four times the parts{:6.2f} x the time (goal 4.4 or less)\n",
               seconds[2] / seconds[0]);
    fs::remove_all(parts);
  }

 private:
  // Ranks may be missing: `msprof merge` does not require a complete set.
  Cost merge(const std::vector<fs::path>& parts) {
    const fs::path output = scratch_ / "merged.part";
    Words words = {msprof_, "merge", "-q", "--output", output.string()};
    for (const fs::path& part : parts) words.push_back(part.string());
    std::vector<Cost> rounds;
    for (int round = 0; round < (parts.size() > 1000 ? 1 : 3); ++round)
      rounds.push_back(run_all({words}, 1));
    fs::remove(output);
    std::sort(rounds.begin(), rounds.end(),
              [](const Cost& a, const Cost& b) { return a.wall_s < b.wall_s; });
    return rounds[rounds.size() / 2];
  }

  void whole(int ranks, Cost cost, const std::vector<fs::path>& parts) {
    cost += merge(parts);
    fmt::print("  {:2} ranks in all     {:6.1f} s wall, {:.1f} s CPU, peak {:.0f} MB a process\n",
               ranks, cost.wall_s, cost.cpu_s, cost.peak_mb);
  }

  std::string msprof_, make_ranks_;
  fs::path scratch_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: rank_commands MSPROF MAKE_RANKS FOLDER [TASKS [PARTS]]\n");
    return 2;
  }
  const std::string tasks = argc > 4 ? argv[4] : "100000";
  const int parts = argc > 5 ? std::atoi(argv[5]) : 10'000;
  RankBench bench(argv[1], argv[2], fs::path(argv[3]) / "rank_commands");
  fmt::print("{} ranks of {} tasks, {} processes\n", kRanks, tasks, kProcesses);
  bench.captures(tasks);
  bench.synthetic(parts);
  return 0;
}
