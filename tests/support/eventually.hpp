// Waiting for a condition instead of for a time. For all tests.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace msprof::test {

// Looks again and again, for a minute at most.
inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

}  // namespace msprof::test
