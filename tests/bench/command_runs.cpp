#include "command_runs.hpp"

#include <fcntl.h>
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

namespace {

[[noreturn]] void fail(const std::filesystem::path& file) {
  std::perror(file.c_str());
  std::exit(1);
}

}  // namespace

CommandRun run_command(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  int status = 0;
  rusage usage = {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0 ||
      wait4(pid, &status, 0, &usage) != pid || status != 0) {
    fmt::print(stderr, "failed: {}\n", fmt::join(words, " "));
    std::exit(1);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  posix_spawn_file_actions_destroy(&actions);
  const auto cpu = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds.count(), static_cast<double>(usage.ru_maxrss) * 1024 / 1e6,
          cpu(usage.ru_utime) + cpu(usage.ru_stime)};
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

double bare_write_seconds(const std::filesystem::path& path, std::uint64_t bytes) {
  const std::string block(1 << 20, 'x');
  const auto start = std::chrono::steady_clock::now();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) fail(path);
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t count =
        ::write(fd, block.data(), std::min<std::uint64_t>(block.size(), bytes - done));
    if (count < 0) fail(path);
    done += static_cast<std::uint64_t>(count);
  }
  ::close(fd);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::filesystem::remove(path);
  return seconds.count();
}

}  // namespace msprof::bench
