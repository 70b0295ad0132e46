// RecordCounter: how many records are missing, by the rolling 4-bit counter that each one carries.
// For stars_soc, ffts_profile, hwts and aicore. Source: cann_device.md 4, 5.1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "import/cann/record_stream.hpp"

namespace msprof::cann {

class RecordCounter {
 public:
  // In reading order.
  void see(const StreamRecord& record, unsigned counter) {
    if (slices_.empty() || slices_.back().file != record.file) {
      slices_.push_back({record.file, record.time, counter, counter});
      return;
    }
    lost_ += gap(slices_.back().last, counter);
    slices_.back().last = counter;
  }

  // At least so many: a gap of 16 cannot be seen. The order in which slices were written is that
  // of their numbers or that of their times; what either order explains is not missing.
  std::uint64_t lost() const {
    std::vector<Slice> in_time = slices_;
    std::stable_sort(in_time.begin(), in_time.end(),
                     [](const Slice& a, const Slice& b) { return a.time < b.time; });
    return lost_ + std::min(lost_between(slices_), lost_between(in_time));
  }

 private:
  struct Slice {
    std::size_t file = 0;
    std::uint64_t time = 0;  // of its first record
    unsigned first = 0;
    unsigned last = 0;
  };

  static unsigned gap(unsigned last, unsigned next) { return (next - last - 1) & 0xF; }
  static std::uint64_t lost_between(const std::vector<Slice>& slices) {
    std::uint64_t lost = 0;
    for (std::size_t i = 1; i < slices.size(); ++i)
      lost += gap(slices[i - 1].last, slices[i].first);
    return lost;
  }

  std::vector<Slice> slices_;
  std::uint64_t lost_ = 0;
};

}  // namespace msprof::cann
