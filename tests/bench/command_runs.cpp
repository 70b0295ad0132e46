#include "command_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

extern char** environ;

namespace msprof::bench {

CommandRun run_command(std::vector<std::string> words) {
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

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

double median_seconds(const std::vector<CommandRun>& runs) {
  std::vector<double> seconds;
  for (const CommandRun& run : runs) seconds.push_back(run.seconds);
  return median(std::move(seconds));
}

double peak_mb(const std::vector<CommandRun>& runs) {
  double peak = 0;
  for (const CommandRun& run : runs) peak = std::max(peak, run.peak_mb);
  return peak;
}

std::uint64_t bytes_in(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

double seconds_in_child(double (*work)(const std::filesystem::path&, const std::filesystem::path&),
                        const std::filesystem::path& from, const std::filesystem::path& to) {
  int ends[2];
  const pid_t pid = ::pipe(ends) == 0 ? ::fork() : -1;
  if (pid == 0) {
    const double seconds = work(from, to);
    ::_exit(::write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  double seconds = 0;
  int status = 1;
  if (pid > 0) {
    ::close(ends[1]);
    const bool answered = ::read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    ::close(ends[0]);
    ::waitpid(pid, &status, 0);
    if (answered && status == 0) return seconds;
  }
  std::perror("a baseline failed");
  std::exit(1);
}

}  // namespace msprof::bench
