// Events: marks in streams that others wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/acl/device/latch.hpp"

namespace msprof::acl {

// An event stands for one record at a time. A wait is for the record that was the latest when the
// wait was launched; where there is none yet, for the first to come.
class Event {
 public:
  // An event "ex" that was never recorded holds up nobody.
  explicit Event(bool ex) : ex_(ex) {}

  // For a record that is launched now: opens when the stream reaches it.
  std::shared_ptr<Latch> record();
  // What a wait launched now waits for; null when it need not wait.
  std::shared_ptr<Latch> awaited() const;
  // The latest record launched; null when there is none.
  std::shared_ptr<Latch> recorded() const;
  // As if it had never been recorded. Waits launched before keep what they wait for.
  void reset();

  std::atomic<std::uint32_t> waits_under_way{0};

 private:
  const bool ex_;
  mutable std::mutex mutex_;
  bool launched_ = false;
  std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
};

}  // namespace msprof::acl
