// Deadline: a time limit for waiting. Internal to lib/ssh.
#pragma once

#include <algorithm>
#include <chrono>

namespace msprof {

// Intervals at which a wait checks for a Ctrl-C that arrived just before it started; the long one
// is for waits that other events wake.
inline constexpr int kInterruptPollMs = 100;
inline constexpr int kLongPollMs = 1000;

class Deadline {
 public:
  explicit Deadline(std::chrono::duration<double> limit)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(limit)) {}

  bool is_over() const { return Clock::now() >= end_; }

  // Remaining time for poll() in milliseconds, rounded up, at most `most`.
  int milliseconds(int most) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, most));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace msprof
