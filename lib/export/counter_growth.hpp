// CounterGrowth: how much a counter that counts from its start grew from its first sample to its
// last. For tables about what was counted during the collection.
#pragma once

#include <cstdint>

#include "base/number.hpp"

namespace msprof {

class CounterGrowth {
 public:
  // In order of time. Where it fell, it began anew, and what it lost is not known.
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
