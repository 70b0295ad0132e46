// Runs processes on this machine with limited concurrency and one log per process. A crash of one
// does not affect the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/process.hpp"

namespace msprof::cluster {

struct PoolTask {
  std::vector<std::string> arguments;  // the program, then its arguments
  std::filesystem::path log;           // for stdout and stderr
};

struct PoolEnd {
  ProcessEnd result;  // result of the last try
  int tries = 0;
};

struct PoolOptions {
  std::size_t jobs = 1;
  int retries = 2;    // retries after death by a signal; other ends are final
  std::string label;  // shown with the progress: "parts"
  std::chrono::milliseconds patience{10'000};  // how long children may take to end after Ctrl-C
};

// Runs all `tasks`. Calls `on_end` for each task as it ends; the return value tells the progress
// display whether the task succeeded. On Ctrl-C, ends all children and then throws
// Error(interrupted); `on_end` was called only for tasks that ended before.
void run_pool(const std::vector<PoolTask>& tasks, const PoolOptions& options,
              const std::function<bool(std::size_t task, const PoolEnd& end)>& on_end);

// Returns the last line of a log; empty if there is none.
std::string last_line(const std::filesystem::path& log);

// Shows the progress of long tasks: one updated line on a terminal, otherwise a line every 10 s.
class CountedProgress {
 public:
  CountedProgress(std::string label, std::size_t total);
  ~CountedProgress();
  CountedProgress(const CountedProgress&) = delete;
  CountedProgress& operator=(const CountedProgress&) = delete;

  void update(std::size_t done, std::size_t failed);
  // "parts: 12 of 64, 1 failed, about 3 min left", after `elapsed`.
  static std::string text(const std::string& label, std::size_t done, std::size_t total,
                          std::size_t failed, std::chrono::seconds elapsed);

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  std::size_t total_;
  bool is_terminal_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_ = begin_;
  bool has_line_ = false;
};

}  // namespace msprof::cluster
