// ClockMap: counts of one counter to wall-clock nanoseconds, in integers. For the CANN kinds.
// Source: cann_host.md 1.7.2 (host counts and device ticks), cann_corrections.md J-A8 (exact).
#pragma once

#include <cstdint>

namespace msprof {

// What the start logs say about one counter.
struct ClockStart {
  std::uint64_t count = 0;          // cntvct at the start
  std::int64_t monotonic_ns = 0;    // clock_monotonic_raw at the start, of the host
  std::int64_t frequency_hz = 0;    // ticks a second; > 0
  std::int64_t wall_offset_ns = 0;  // collectionTimeBegin - clockMonotonicRaw of start_info
  bool counts_are_ns = false;       // host at 1000 MHz: the count is the monotonic time
};

class ClockMap {
 public:
  ClockMap() = default;
  explicit ClockMap(const ClockStart& start);

  // Wall-clock nanoseconds; a fraction is cut. Counts that would not fit 64 bits give INT64_MAX.
  std::int64_t ns(std::uint64_t count) const;
  // `ticks` as a duration, the fraction cut.
  std::int64_t duration_ns(std::uint64_t ticks) const;
  // The same moment as the peer's Python path prints it, microseconds through doubles and text with
  // three decimals, here as ns: for msprof_tx, operator_memory, memory_record and aicpu, whose
  // cells users compare. Without counts_are_ns also J-C5's form.
  std::int64_t shown_ns(std::uint64_t count) const;

  const ClockStart& start() const { return start_; }

 private:
  ClockStart start_;
  std::int64_t ns_per_tick_ = 0;  // where it is a whole number, else 0
};

}  // namespace msprof
