#include "runtime/acl/device/event.hpp"

namespace msprof::acl {

std::shared_ptr<Latch> Event::record() {
  const std::lock_guard lock(mutex_);
  if (was_launched_) latch_ = std::make_shared<Latch>();
  was_launched_ = true;
  return latch_;
}

std::shared_ptr<Latch> Event::awaited() const {
  const std::lock_guard lock(mutex_);
  return was_launched_ || !is_ex_ ? latch_ : nullptr;
}

std::shared_ptr<Latch> Event::recorded() const {
  const std::lock_guard lock(mutex_);
  return was_launched_ ? latch_ : nullptr;
}

void Event::reset() {
  const std::lock_guard lock(mutex_);
  if (was_launched_) latch_ = std::make_shared<Latch>();
  was_launched_ = false;
}

}  // namespace msprof::acl
