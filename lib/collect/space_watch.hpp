// SpaceWatch: warns before a disk is full, while an application runs. For the collector.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "collect/host.hpp"

namespace msprof {

// Looks at the place where the run writes (on a board not more often than every ten seconds: each
// look costs it a process) and at the output folder of this machine. Warns once a disk and
// threshold.
class SpaceWatch {
 public:
  SpaceWatch(Host& host, std::filesystem::path output);

  void look();
  // Looks at once; for the moments before and after a run.
  void look_now();
  // The disk where the run writes was seen full, or all but full.
  bool is_run_full() const { return run_full_; }

 private:
  using Clock = std::chrono::steady_clock;
  // What was said already about a disk: 0 nothing, 1 little is left, 2 next to nothing.
  static int level_of(std::uint64_t free_bytes);
  void look_at_host();
  void look_here();

  Host& host_;
  std::filesystem::path output_;
  std::chrono::seconds interval_;
  Clock::time_point next_;
  int said_host_ = 0;
  int said_here_ = 0;
  bool run_full_ = false;
};

}  // namespace msprof
