// A recording that starts and ends at given times: PROFILING_MODE=delay_or_duration. Rules:
// acl/api/README.md.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace msprof::acl {

class DelayedRecording {
 public:
  // Calls `begin` after `delay_s` and, unless `duration_s` is 0, `end` after another `duration_s`.
  // Both run in a separate thread.
  DelayedRecording(std::uint64_t delay_s, std::uint64_t duration_s, std::function<void()> begin,
                   std::function<void()> end);
  // After this, neither function is called.
  ~DelayedRecording();
  DelayedRecording(const DelayedRecording&) = delete;
  DelayedRecording& operator=(const DelayedRecording&) = delete;

 private:
  bool wait(std::uint64_t seconds);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_cancelled_ = false;
  std::thread thread_;
};

}  // namespace msprof::acl
