// Tests whether the smallest of several values is an outlier: by Dixon's test for few values, by
// three standard deviations for many. Uses exact integer arithmetic.
#pragma once

#include <cstdint>
#include <span>

#include "base/number.hpp"
#include "cluster/rows.hpp"

namespace msprof::cluster {

// The statistics of a set of values that the test needs.
struct ValueSpread {
  std::int64_t count = 0;
  int128 sum = 0;
  uint128 square_sum = 0;
  std::int64_t smallest[kKeptExtremes] = {kNull, kNull, kNull};  // ascending
  std::int64_t largest[kKeptExtremes] = {kNull, kNull, kNull};   // descending
};

ValueSpread compute_spread(const CollectiveRow& total);
// Sorts `values`.
ValueSpread compute_spread(std::span<std::int64_t> values);

inline constexpr std::int64_t kLeastValues = 3;
inline constexpr std::int64_t kMaxDixonValues = 30;

// For up to kMaxDixonValues values: true if Dixon's ratio r10 (3 to 7 values), r11 (to 10), r21 (to
// 13) or r22 exceeds its critical value at 99.5 % (one-sided). For more values: true if it is more
// than three standard deviations below the mean. False for fewer than kLeastValues values, or if a
// required value is unknown.
bool is_smallest_outlier(const ValueSpread& values);

}  // namespace msprof::cluster
