#include "runtime/acl/prof/delayed_recording.hpp"

#include <chrono>
#include <utility>

#include "runtime/engine/blocked_signals.hpp"

namespace msprof::acl {

DelayedRecording::DelayedRecording(std::uint64_t delay_s, std::uint64_t duration_s,
                                   std::function<void()> begin, std::function<void()> end) {
  const runtime::BlockedSignals inherited;
  thread_ =
      std::thread([this, delay_s, duration_s, begin = std::move(begin), end = std::move(end)] {
        if (!wait(delay_s)) return;
        begin();
        if (duration_s != 0 && wait(duration_s)) end();
      });
}

DelayedRecording::~DelayedRecording() {
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Returns false if it is cancelled before the time has passed.
bool DelayedRecording::wait(std::uint64_t seconds) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return is_cancelled_; });
}

}  // namespace msprof::acl
