#include "cluster/outlier.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace msprof::cluster {

namespace {

// Critical values times 1000, starting at 3 values. Source: Dixon 1953, Rorabacher 1991 (one-sided
// 99.5 %).
constexpr std::array<std::int64_t, 28> kDixonCritical = {994, 926, 821, 740, 680,  // r10
                                                         725, 677, 639,            // r11
                                                         713, 675, 649,            // r21
                                                         674, 647, 624, 605, 589, 575, 562, 551,
                                                         541,  // r22
                                                         532, 524, 516, 508, 501, 495, 489, 483};
static_assert(kDixonCritical.size() == kMaxDixonValues - kLeastValues + 1);

bool is_by_dixon(const ValueSpread& values) {
  const std::int64_t count = values.count;
  // Dixon's ratio uses smallest[low] for the gap and largest[high] for the range.
  const std::size_t low = count <= 10 ? 1 : 2;
  const std::size_t high = count <= 7 ? 0 : count <= 13 ? 1 : 2;
  const std::int64_t smallest = values.smallest[0];
  if (smallest == kNull || values.smallest[low] == kNull || values.largest[high] == kNull)
    return false;
  const int128 gap = static_cast<int128>(values.smallest[low]) - smallest;
  const int128 range = static_cast<int128>(values.largest[high]) - smallest;
  const std::int64_t critical = kDixonCritical[static_cast<std::size_t>(count - kLeastValues)];
  return range > 0 && gap * 1000 > range * critical;
}

// x is an outlier if (sum - n x)^2 > 9 (n Q - sum^2), unless this overflows; Q is the sum of
// squares.
bool is_by_deviation(const ValueSpread& values) {
  if (values.smallest[0] == kNull) return false;
  const int128 below = values.sum - static_cast<int128>(values.count) * values.smallest[0];
  if (below <= 0) return false;
  uint128 squares = 0;
  int128 sum_square = 0;
  uint128 below_square = 0;
  uint128 limit = 0;
  const auto distance = static_cast<uint128>(below);
  if (__builtin_mul_overflow(values.square_sum, static_cast<uint128>(values.count), &squares) ||
      __builtin_mul_overflow(values.sum, values.sum, &sum_square) ||
      __builtin_mul_overflow(distance, distance, &below_square))
    return false;
  if (squares < static_cast<uint128>(sum_square)) return false;
  const uint128 variance = squares - static_cast<uint128>(sum_square);
  if (__builtin_mul_overflow(variance, uint128{9}, &limit)) return false;
  return below_square > limit;
}

}  // namespace

ValueSpread compute_spread(const CollectiveRow& total) {
  ValueSpread values;
  values.count = total.rank_count;
  values.sum = total.duration_ns;
  values.square_sum = total.square_sum();
  std::copy_n(total.shortest_ns, kKeptExtremes, values.smallest);
  std::copy_n(total.longest_ns, kKeptExtremes, values.largest);
  return values;
}

ValueSpread compute_spread(std::span<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  ValueSpread spread;
  spread.count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t value : values) {
    spread.sum += value;
    // A damaged part may contain any values: squares fit in 128 bits, the unsigned sum may wrap.
    spread.square_sum += static_cast<uint128>(static_cast<int128>(value) * value);
  }
  for (std::size_t i = 0; i < std::min(kKeptExtremes, values.size()); ++i) {
    spread.smallest[i] = values[i];
    spread.largest[i] = values[values.size() - 1 - i];
  }
  return spread;
}

bool is_smallest_outlier(const ValueSpread& values) {
  if (values.count < kLeastValues) return false;
  return values.count <= kMaxDixonValues ? is_by_dixon(values) : is_by_deviation(values);
}

}  // namespace msprof::cluster
