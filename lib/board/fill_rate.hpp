// FillRate: how fast the raw files of a run grow and the board's disk fills, and when that is to be
// said. For the drain.
#pragma once

#include <cstdint>
#include <optional>

namespace msprof {

class FillRate {
 public:
  // A look at the board: `seconds` of a clock that only goes on, bytes of all raw files, free bytes
  // of the disk.
  void add(double seconds, std::uint64_t raw_bytes, std::optional<std::uint64_t> free_bytes);

  // By which the raw files grow; 0 before the second look.
  double bytes_per_second() const { return growth_; }
  std::optional<std::uint64_t> free_bytes() const { return free_; }
  // Until the disk is full at the rate at which it fills now; empty where it does not.
  std::optional<double> seconds_left() const;
  // True once for each of 10 minutes, 2 minutes and 20 seconds that are left; where space
  // `is_freed` only when a tenth of what was free is, and seconds are left: a rate of filling is
  // none then.
  bool is_to_be_said(bool is_freed = false);
  // Seconds until the next look: an eighth of the time that the raw files take to fill the disk,
  // 0.05 to 5.
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
