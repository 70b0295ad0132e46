// RecordCounter: how many records are missing, by the rolling 4-bit counter that each one carries.
// For stars_soc, ffts_profile, hwts and aicore. Source: cann_device.md 4, 5.1.
#pragma once

#include <cstdint>

namespace msprof::cann {

class RecordCounter {
 public:
  // In reading order.
  void see(unsigned counter) {
    if (has_last_) lost_ += (counter - last_ - 1) & 0xF;
    last_ = counter;
    has_last_ = true;
  }
  // At least so many: a gap of 16 cannot be seen.
  std::uint64_t lost() const { return lost_; }

 private:
  unsigned last_ = 0;
  bool has_last_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace msprof::cann
