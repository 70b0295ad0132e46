// Notifies: flags that a stream sets and that one wait of a stream takes back.
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

  // Lets the first wait go on; without one, the next.
  void set() {
    const std::lock_guard lock(mutex_);
    if (waits_.empty()) {
      is_set_ = true;
      return;
    }
    waits_.front()->open();
    waits_.pop_front();
  }

  // Takes the flag back: null where it is set, else what opens when this wait has its turn.
  std::shared_ptr<Latch> take() {
    const std::lock_guard lock(mutex_);
    if (is_set_) {
      is_set_ = false;
      return nullptr;
    }
    waits_.push_back(std::make_shared<Latch>());
    return waits_.back();
  }

  // The wait is over; false where its turn came just before.
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
