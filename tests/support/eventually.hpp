// Waits for a condition instead of a fixed time. For all tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace msprof::test {

// The only time limit for waits in tests: it ends a hang and does not measure speed. Slightly below
// the runner's limit per case (600 s), so that the case can still report what it waited for.
inline constexpr std::chrono::minutes kHangLimit{9};

// A limit for msprof's own timeouts that must not expire in a test (--reconnect, connect_timeout);
// kAmple is its text.
inline constexpr int kAmpleSeconds = 500;
inline const std::string kAmple = std::to_string(kAmpleSeconds);

// A deadline, kHangLimit after construction.
class HangDeadline {
 public:
  bool is_over() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kHangLimit;
};

// Returns true once `condition` holds, false after kHangLimit. Sleeps as long as each check took,
// so that expensive checks, such as searching /proc, leave CPU time to the awaited processes.
inline bool eventually(const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kShortest = std::chrono::milliseconds(2);
  constexpr Clock::duration kLongest = std::chrono::milliseconds(50);
  const HangDeadline deadline;
  while (!deadline.is_over()) {
    const auto begin = Clock::now();
    if (condition()) return true;
    std::this_thread::sleep_for(std::clamp(Clock::now() - begin, kShortest, kLongest));
  }
  return condition();
}

}  // namespace msprof::test
