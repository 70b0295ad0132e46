// TimeOrder: samples that come nearly in order of time, put in order. Clock32: a clock of 32 bits
// that falls back, as one that does not. For the kinds of counters.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace msprof::cann {

// Gives items back in order of time, those of one time in the order in which they came. An item
// may be late by kWindow others.
template <typename Item>
class TimeOrder {
 public:
  static constexpr std::size_t kWindow = 4096;

  // False for one that is older than what was given back already: it is not taken.
  template <typename Visit>
  bool add(std::int64_t time_ns, Item item, Visit&& visit) {
    if (time_ns < given_ns_) return false;
    auto place = waiting_.end();
    while (place != waiting_.begin() && std::prev(place)->first > time_ns) --place;
    waiting_.emplace(place, time_ns, std::move(item));
    if (waiting_.size() > kWindow) give(visit);
    return true;
  }
  // The rest, at the end.
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

// Microseconds of 32 bits start again after 71.6 minutes.
class Clock32 {
 public:
  std::uint64_t unwrapped(std::uint32_t value) {
    const auto step = static_cast<std::int32_t>(value - static_cast<std::uint32_t>(last_));
    // A step back is an older sample; one beyond the start cannot be.
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
