// ClockMap: counts of one counter to wall-clock nanoseconds, in integers. For the CANN kinds.
// Source: cann_host.md 1.7.2 (host counts and device ticks), cann_device.md 2.1 (exact), 8.6.
#pragma once

#include <cstdint>

namespace msprof {

// Values of the start logs for one counter.
struct ClockStart {
  std::uint64_t count = 0;          // cntvct at the start
  std::int64_t monotonic_ns = 0;    // clock_monotonic_raw at the start, of the host, cntvct_diff in
  std::int64_t frequency_hz = 0;    // ticks a second; > 0
  std::int64_t wall_offset_ns = 0;  // collectionTimeBegin - clockMonotonicRaw of start_info
  bool counts_are_ns = false;       // host at 1000 MHz: the count is the monotonic time
  // Used by the shown times alone, whose doubles depend on them:
  std::int64_t begin_monotonic_ns = 0;  // clockMonotonicRaw of start_info
  std::int64_t vendor_extra_ns = 0;     // monotonic_ns there: cntvct_diff is rounded, not cut
};

class ClockMap {
 public:
  ClockMap() = default;
  explicit ClockMap(const ClockStart& start);

  // Returns wall-clock nanoseconds; a fraction is cut. What would not fit 64 bits gives INT64_MAX
  // or _MIN.
  std::int64_t ns(std::uint64_t count) const;
  // False for a count more than a year after the start: it is no time, whatever else it is.
  bool is_possible(std::uint64_t count) const { return count <= latest_; }
  std::uint64_t latest() const { return latest_; }
  // Returns `ticks` as a duration, the fraction cut.
  std::int64_t duration_ns(std::uint64_t ticks) const;
  // Returns the moment as the vendor's Python path prints it, microseconds through doubles and text
  // with three decimals, here as ns: for msprof_tx, operator_memory, memory_record and aicpu, whose
  // cells users compare. Counts of memory events come without counts_are_ns (cann_host.md 1.7.2).
  std::int64_t vendor_ns(std::uint64_t count) const;

  // The steps of vendor_ns(): aicpu takes the first through milliseconds
  // (cann_device.md 8.6).
  double vendor_monotonic_ms(std::uint64_t count) const;
  // Microseconds of the monotonic clock as the wall-clock text, as ns.
  std::int64_t vendor_ns_of(double monotonic_us) const;

  const ClockStart& start() const { return start_; }

 private:
  double vendor_monotonic(std::uint64_t count, double units_a_second) const;

  ClockStart start_;
  std::int64_t base_ns_ = 0;       // monotonic_ns + wall_offset_ns
  std::uint64_t ns_per_tick_ = 0;  // if it is a whole number, else 0
  // Picoseconds of a tick, reduced: exact for a difference of at most plain_limit_ in 64 bits.
  std::uint64_t numerator_ = 0;
  std::uint64_t denominator_ = 1;
  std::uint64_t plain_limit_ = 0;
  std::uint64_t latest_ = UINT64_MAX;  // count that is possible
};

}  // namespace msprof
