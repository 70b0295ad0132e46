// Deadline: a point in time until which something is waited for. Inside lib/ssh.
#pragma once

#include <algorithm>
#include <chrono>

namespace msprof {

// Milliseconds after which a wait looks for a Ctrl-C that came just before it began; the second
// where other ends wake it.
inline constexpr int kInterruptPollMs = 100;
inline constexpr int kLongPollMs = 1000;

class Deadline {
 public:
  explicit Deadline(std::chrono::duration<double> limit)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(limit)) {}

  bool is_over() const { return Clock::now() >= end_; }

  // Time left in whole milliseconds, rounded up, at most `most`: for poll().
  int milliseconds(int most) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, most));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace msprof
