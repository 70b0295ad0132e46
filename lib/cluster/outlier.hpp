// Whether the smallest of some values is an outlier: Dixon's test for few, three standard
// deviations for many. Exact, in integers. For slow ranks and hosts.
#pragma once

#include <cstdint>
#include <span>

#include "base/number.hpp"
#include "cluster/rows.hpp"

namespace msprof::cluster {

// What must be known of values for the test.
struct ValueSpread {
  std::int64_t count = 0;
  int128 sum = 0;
  uint128 square_sum = 0;
  std::int64_t smallest[kExtremes] = {kNull, kNull, kNull};  // in order
  std::int64_t largest[kExtremes] = {kNull, kNull, kNull};   // the largest first
};

ValueSpread spread_of(const CollectiveRow& total);
// Sorts the values.
ValueSpread spread_of(std::span<std::int64_t> values);

inline constexpr std::int64_t kLeastValues = 3;
inline constexpr std::int64_t kMaxDixonValues = 30;

// Up to kMaxDixonValues: Dixon's ratio r10 (3 to 7 values), r11 (to 10), r21 (to 13) or r22 above
// its critical value at 99.5 % (one-sided). More: below the mean by more than three standard
// deviations. False for fewer than kLeastValues, and where a value that is needed is not known.
bool is_smallest_outlier(const ValueSpread& values);

}  // namespace msprof::cluster
