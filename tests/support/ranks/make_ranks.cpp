// make_ranks folders|parts OUT [OPTION VALUE]...: writes the captures of a training job on many
// ranks with planted faults, as PROF folders or as finished rank summaries. For scripts, tests and
// benchmarks.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/ranks/cluster_run.hpp"
#include "support/ranks/rank_folder.hpp"
#include "support/ranks/rank_part_file.hpp"

namespace {

namespace fs = std::filesystem;
using namespace msprof::test::ranks;

constexpr const char* kUsage =
    "usage: make_ranks folders|parts OUT [options]\n"
    "  --ranks N --steps N --collectives N (a step) --operators N --tasks N (a rank) --seed N\n"
    "  --hosts N, or --ranks-per-host N      how ranks lie on hosts (default: 8 a host)\n"
    "  --compute-us N                        computing before a collective, of parts\n"
    "  --parallel                            groups of a host and across hosts beside that of all\n"
    "  --first N --count N                   writes these ranks alone, of the same job\n"
    "faults:\n"
    "  --slow-rank R, --slow-host H          computes --slow-percent P (30) longer\n"
    "  --low-frequency R                     computes longer, at 1200 in the place of 1800 MHz\n"
    "  --slow-link A,B                       from rank A to rank B; --slow-factor F (6)\n"
    "  --late-host H --offset-us N           the clock of the host is ahead\n"
    "  --growing                             a step computes 4 % of the first more than the last\n"
    "  --missing R                           leaves no file; may be given again\n";

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(why + "\n" + kUsage);
}

std::int64_t number_in(const std::string& text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != 0) refuse("no number: " + text);
  return value;
}

struct Work {
  bool is_folders = false;
  fs::path out;
  ClusterShape shape;
  std::int64_t first = 0, count = kNoPartner;
};

Work parse_work(const std::vector<std::string>& words) {
  if (words.size() < 2 || (words[0] != "folders" && words[0] != "parts"))
    refuse("what, and where?");
  Work work;
  work.is_folders = words[0] == "folders";
  work.out = words[1];
  ClusterShape& shape = work.shape;
  RankFaults& faults = shape.faults;
  shape.collectives = 0;
  std::int64_t hosts = 0, compute_us = 0;
  const std::map<std::string_view, std::int64_t*> numbers = {
      {"--ranks", &shape.ranks},
      {"--ranks-per-host", &shape.ranks_per_host},
      {"--hosts", &hosts},
      {"--steps", &shape.steps},
      {"--collectives", &shape.collectives},
      {"--operators", &shape.operators},
      {"--tasks", &shape.tasks},
      {"--compute-us", &compute_us},
      {"--first", &work.first},
      {"--count", &work.count},
      {"--slow-rank", &faults.slow_rank},
      {"--slow-host", &faults.slow_host},
      {"--slow-percent", &faults.slow_percent},
      {"--slow-factor", &faults.slow_link_factor},
      {"--low-frequency", &faults.low_frequency_rank},
      {"--late-host", &faults.late_host},
      {"--offset-us", &faults.offset_us}};
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--growing" || word == "--parallel") {
      (word == "--growing" ? faults.growing : shape.is_parallel) = true;
      continue;
    }
    if (++i == words.size()) refuse("no value for " + word);
    const std::string& value = words[i];
    if (const auto known = numbers.find(word); known != numbers.end()) {
      *known->second = number_in(value);
    } else if (word == "--seed") {
      shape.seed = static_cast<std::uint64_t>(number_in(value));
    } else if (word == "--missing") {
      faults.missing.insert(number_in(value));
    } else if (word == "--slow-link") {
      const std::size_t comma = value.find(',');
      if (comma == std::string::npos) refuse("no two ranks: " + value);
      faults.slow_link = {number_in(value.substr(0, comma)), number_in(value.substr(comma + 1))};
    } else {
      refuse("no option: " + word);
    }
  }
  if (hosts > 0) shape.ranks_per_host = (shape.ranks + hosts - 1) / hosts;
  if (shape.collectives == 0) {
    const std::int64_t fits = shape.tasks / shape.steps / 40;
    shape.collectives = work.is_folders ? std::clamp<std::int64_t>(fits, 2, 200) : 10;
  }
  if (work.is_folders) shape.compute_ns = 4000 * kernels_before_collective(shape);
  if (compute_us > 0) shape.compute_ns = compute_us * 1000;
  return work;
}

// Process i of n handles the ranks i, i + n, ….
bool run_in_processes(unsigned processes, const std::function<void(unsigned)>& work) {
  std::vector<pid_t> children;
  for (unsigned i = 0; i < processes; ++i) {
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("cannot fork");
    if (pid == 0) {
      int code = 0;
      try {
        work(i);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        code = 1;
      }
      ::_exit(code);
    }
    children.push_back(pid);
  }
  bool all_well = true;
  for (const pid_t child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    all_well = all_well && status == 0;
  }
  return all_well;
}

}  // namespace

int main(int argc, char** argv) try {
  const Work work = parse_work({argv + 1, argv + argc});
  fs::create_directories(work.out);
  const ClusterRun run(work.shape);
  const std::int64_t last = work.count == kNoPartner
                                ? work.shape.ranks
                                : std::min(work.first + work.count, work.shape.ranks);
  const unsigned processes = std::max(1u, std::thread::hardware_concurrency());
  const bool all_well = run_in_processes(processes, [&](unsigned number) {
    for (std::int64_t rank = work.first + number; rank < last; rank += processes) {
      if (work.shape.faults.missing.count(rank) != 0) continue;
      if (work.is_folders) {
        write_rank_folder(work.out, run, rank);
      } else {
        write_rank_part_file(work.out / part_name(rank), run, rank);
      }
    }
  });
  return all_well ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
