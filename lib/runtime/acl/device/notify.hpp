// Notifies: flags that a stream sets and that a single wait resets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "runtime/acl/device/latch.hpp"

namespace msprof::acl {

// Thread-safe.
class Notify {
 public:
  explicit Notify(std::uint32_t id) : id_(id) {}

  std::uint32_t id() const { return id_; }

  // Releases the first pending wait or, if there is none, the next one.
  void set() {
    const std::lock_guard lock(mutex_);
    if (waits_.empty()) {
      is_set_ = true;
      return;
    }
    waits_.front()->open();
    waits_.pop_front();
  }

  // Starts a wait. If the flag is set, resets it and returns null. Otherwise returns a latch that
  // opens when set() releases this wait.
  std::shared_ptr<Latch> take() {
    const std::lock_guard lock(mutex_);
    if (is_set_) {
      is_set_ = false;
      return nullptr;
    }
    waits_.push_back(std::make_shared<Latch>());
    return waits_.back();
  }

  // Cancels the wait. Returns false if it has just been released.
  bool give_up(const std::shared_ptr<Latch>& wait) {
    const std::lock_guard lock(mutex_);
    return std::erase(waits_, wait) > 0;
  }

 private:
  const std::uint32_t id_;
  std::mutex mutex_;
  bool is_set_ = false;
  std::deque<std::shared_ptr<Latch>> waits_;
};

}  // namespace msprof::acl
