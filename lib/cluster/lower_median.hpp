// The median that slow ranks, hosts and steps are compared with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace msprof::cluster {

// Of an even count the lower one of the two in the middle: of a group of which one half is slow,
// this is one of the other half. Puts the values, at least one, in another order.
template <typename Value>
Value lower_median(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace msprof::cluster
