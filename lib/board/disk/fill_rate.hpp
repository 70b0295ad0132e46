// FillRate: measures how fast the raw files of a run and the used space of the board's disk grow,
// and decides when to warn. Used by the drain.
#pragma once

#include <cstdint>
#include <optional>

namespace msprof {

class FillRate {
 public:
  // Adds a measurement: `seconds` of a monotonic clock, total size of the raw files, free bytes of
  // the disk.
  void add(double seconds, std::uint64_t raw_bytes, std::optional<std::uint64_t> free_bytes);

  // Growth of the raw files; 0 before the second measurement.
  double bytes_per_second() const { return growth_; }
  std::optional<std::uint64_t> free_bytes() const { return free_; }
  // Time until the disk is full at the current rate; empty if it does not fill.
  std::optional<double> seconds_left() const;
  // Returns true once each when 10 minutes, 2 minutes and 20 seconds are left. `is_freed`:
  // the board frees drained space, which makes the rate unreliable; then returns true only if at
  // most a tenth of the maximum free space and 20 seconds are left.
  bool is_to_be_said(bool is_freed = false);
  // Seconds until the next poll: an eighth of the time in which the raw files would fill the disk,
  // limited to 0.05 to 5.
  double pause_seconds() const;

 private:
  int looks_ = 0;
  double at_ = 0;
  std::uint64_t raw_ = 0;
  std::optional<std::uint64_t> free_;
  std::uint64_t most_free_ = 0;
  double growth_ = 0;
  double filling_ = 0;
  int said_ = 0;
};

}  // namespace msprof
