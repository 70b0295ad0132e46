// TimeOrder: sorts samples that are nearly in order of time. Clock32: extends a wrapping 32-bit
// clock to 64 bits.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace msprof::cann {

// Returns items in order of time; items with equal times keep their order. Sorts correctly if an
// item is at most kWindow items late.
template <typename Item>
class TimeOrder {
 public:
  static constexpr std::size_t kWindow = 4096;

  // Returns false, without adding the item, if a later item was already returned.
  template <typename Visit>
  bool add(std::int64_t time_ns, Item item, Visit&& visit) {
    if (time_ns < given_ns_) return false;
    auto place = waiting_.end();
    while (place != waiting_.begin() && std::prev(place)->first > time_ns) --place;
    waiting_.emplace(place, time_ns, std::move(item));
    if (waiting_.size() > kWindow) give(visit);
    return true;
  }
  // Returns the remaining items. Call at the end.
  template <typename Visit>
  void finish(Visit&& visit) {
    while (!waiting_.empty()) give(visit);
  }

 private:
  template <typename Visit>
  void give(Visit&& visit) {
    given_ns_ = waiting_.front().first;
    visit(given_ns_, waiting_.front().second);
    waiting_.pop_front();
  }

  std::deque<std::pair<std::int64_t, Item>> waiting_;
  std::int64_t given_ns_ = INT64_MIN;
};

// Extends a 32-bit clock in microseconds, which wraps after 71.6 minutes.
class Clock32 {
 public:
  std::uint64_t unwrapped(std::uint32_t value) {
    const auto step = static_cast<std::int32_t>(value - static_cast<std::uint32_t>(last_));
    // A step back means a late sample, unless it would lead to a time before 0.
    if (is_first_ || (step < 0 && last_ < static_cast<std::uint64_t>(-std::int64_t{step}))) {
      is_first_ = false;
      return last_ = value;
    }
    const std::uint64_t now = last_ + static_cast<std::uint64_t>(std::int64_t{step});
    if (step > 0) last_ = now;
    return now;
  }

 private:
  std::uint64_t last_ = 0;
  bool is_first_ = true;
};

}  // namespace msprof::cann
