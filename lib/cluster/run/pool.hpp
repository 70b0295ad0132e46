// A pool of processes on this machine: so many at a time, each with a log of its own; a crash of
// one ends no other. For runs over many captures.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cluster/run/process.hpp"

namespace msprof::cluster {

struct PoolTask {
  std::vector<std::string> arguments;  // the program first
  std::filesystem::path log;           // takes both of its streams
};

struct PoolEnd {
  ProgramResult result;  // of the last try
  int tries = 0;
};

struct PoolOptions {
  std::size_t jobs = 1;
  int retries = 2;    // of a process that a signal killed; an exit code is an answer
  std::string label;  // of the progress: "parts"
  std::chrono::milliseconds patience{10'000};  // for children to end at Ctrl-C
};

// Runs all of `tasks`; `on_end` is told each as it ends, in the order of their ends, and says
// whether it went well, for the progress. Throws Error(interrupted) on Ctrl-C, when all children
// have ended; what ended before was told.
void run_pool(const std::vector<PoolTask>& tasks, const PoolOptions& options,
              const std::function<bool(std::size_t task, const PoolEnd& end)>& on_end);

// Progress of a number of things that each take long: one line on a terminal, else a line every
// 10 s.
class CountedProgress {
 public:
  CountedProgress(std::string label, std::size_t total);
  ~CountedProgress();
  CountedProgress(const CountedProgress&) = delete;
  CountedProgress& operator=(const CountedProgress&) = delete;

  void update(std::size_t done, std::size_t failed);
  // "parts: 12 of 64, 1 failed, about 3 min left", of so many after `elapsed`.
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
