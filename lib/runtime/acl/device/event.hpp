// Events: points in a stream that others can wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/acl/device/latch.hpp"

namespace msprof::acl {

// An event refers to one record at a time. A wait refers to the latest record launched before it
// or, if there is none yet, to the next one.
class Event {
 public:
  // If `ex`, a wait for a never-recorded event returns at once.
  explicit Event(bool ex) : is_ex_(ex) {}

  // Returns the latch of a record that is launched now. The stream opens it when it reaches the
  // record.
  std::shared_ptr<Latch> record();
  // The latch for a wait launched now; null if it need not wait.
  std::shared_ptr<Latch> awaited() const;
  // The latch of the latest record; null if there is none.
  std::shared_ptr<Latch> recorded() const;
  // Restores the state before the first record. Earlier waits are not affected.
  void reset();

  std::atomic<std::uint32_t> waits_under_way{0};

 private:
  const bool is_ex_;
  mutable std::mutex mutex_;
  bool was_launched_ = false;
  std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
};

}  // namespace msprof::acl
