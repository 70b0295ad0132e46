// CounterGrowth: sums how much a cumulative counter grows between its first and last sample.
#pragma once

#include <cstdint>

#include "base/number.hpp"

namespace msprof {

class CounterGrowth {
 public:
  // Samples must be in order of time. A decrease means that the counter was reset; growth before
  // the reset that was not sampled is not counted.
  void add(std::int64_t value) {
    if (count_++ > 0 && value > last_) sum_ += int128{value} - last_;
    last_ = value;
  }
  std::int64_t count() const { return count_; }
  int128 value() const { return sum_; }

 private:
  std::int64_t count_ = 0;
  std::int64_t last_ = 0;
  int128 sum_ = 0;
};

}  // namespace msprof
