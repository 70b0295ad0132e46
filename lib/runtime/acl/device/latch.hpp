// A flag that opens once: at an event record, the end of an execution, or the end of a callback.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace msprof::acl {

using WaitDeadline = std::optional<std::chrono::steady_clock::time_point>;

// Negative: no deadline.
inline WaitDeadline deadline_in(std::int32_t milliseconds) {
  if (milliseconds < 0) return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
}

class Latch {
 public:
  enum class End { opened, timeout, given_up };

  // Only the first call has an effect. at_ns() and code() return the arguments.
  void open(std::uint64_t at_ns = 0, int code = 0) {
    {
      const std::lock_guard lock(mutex_);
      if (is_open_) return;
      is_open_ = true;
      at_ns_ = at_ns;
      code_ = code;
    }
    changed_.notify_all();
  }

  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return is_open_;
  }
  // Valid once the latch is open.
  std::uint64_t at_ns() const {
    const std::lock_guard lock(mutex_);
    return at_ns_;
  }
  int code() const {
    const std::lock_guard lock(mutex_);
    return code_;
  }

  // Ends early if `give_up` becomes true and look_again() is then called.
  End wait(const WaitDeadline& deadline, const std::atomic<bool>* give_up = nullptr) {
    std::unique_lock lock(mutex_);
    const auto ended = [&] { return is_open_ || (give_up != nullptr && give_up->load()); };
    if (!deadline) {
      changed_.wait(lock, ended);
    } else if (!changed_.wait_until(lock, *deadline, ended)) {
      return End::timeout;
    }
    return is_open_ ? End::opened : End::given_up;
  }

  void look_again() {
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  std::uint64_t at_ns_ = 0;
  int code_ = 0;
};

}  // namespace msprof::acl
