// ClockMap converts counts of one counter to wall-clock nanoseconds with integer arithmetic.
// Source: cann_host.md 1.7.2 (host counts and device ticks), cann_device.md 2.1 (exact), 8.6.
#pragma once

#include <cstdint>

namespace msprof {

// Values of the start logs for one counter.
struct ClockStart {
  std::uint64_t count = 0;        // cntvct at the start
  std::int64_t monotonic_ns = 0;  // host's clock_monotonic_raw at the start, including cntvct_diff
  std::int64_t frequency_hz = 0;  // ticks per second; > 0
  std::int64_t wall_offset_ns = 0;  // collectionTimeBegin - clockMonotonicRaw of start_info
  bool counts_are_ns = false;       // true for hosts with 1000 MHz: the count is the monotonic time
  // Used only by the vendor_ functions, whose floating-point results depend on them:
  std::int64_t begin_monotonic_ns = 0;  // clockMonotonicRaw of start_info
  std::int64_t vendor_extra_ns = 0;     // added to monotonic_ns: the vendor rounds cntvct_diff
};

class ClockMap {
 public:
  ClockMap() = default;
  explicit ClockMap(const ClockStart& start);

  // Returns wall-clock nanoseconds, truncated. Values that do not fit saturate at INT64_MAX or
  // INT64_MIN.
  std::int64_t ns(std::uint64_t count) const;
  // False if the count is more than a year after the start, so it cannot be valid.
  bool is_possible(std::uint64_t count) const { return count <= latest_; }
  std::uint64_t latest() const { return latest_; }
  // Converts `ticks` to a duration in ns, truncated.
  std::int64_t duration_ns(std::uint64_t ticks) const;
  // Returns the time in ns as the vendor's Python code prints it: microseconds computed in doubles
  // and printed with three decimals. For msprof_tx, operator_memory, memory_record and aicpu, whose
  // cells users compare with the vendor's. For memory events, counts_are_ns is not used
  // (cann_host.md 1.7.2).
  std::int64_t vendor_ns(std::uint64_t count) const;

  // The two steps of vendor_ns(). For aicpu, the first step uses milliseconds (cann_device.md 8.6).
  double vendor_monotonic_ms(std::uint64_t count) const;
  // Converts microseconds of the monotonic clock to wall-clock ns, with the vendor's rounding.
  std::int64_t to_vendor_ns(double monotonic_us) const;

  const ClockStart& start() const { return start_; }

 private:
  double vendor_monotonic(std::uint64_t count, double units_a_second) const;

  ClockStart start_;
  std::int64_t base_ns_ = 0;       // monotonic_ns + wall_offset_ns
  std::uint64_t ns_per_tick_ = 0;  // 0 if not a whole number
  // Picoseconds per tick as a reduced fraction; 64-bit arithmetic is exact up to plain_limit_
  // ticks.
  std::uint64_t numerator_ = 0;
  std::uint64_t denominator_ = 1;
  std::uint64_t plain_limit_ = 0;
  std::uint64_t latest_ = UINT64_MAX;  // latest valid count
};

}  // namespace msprof
