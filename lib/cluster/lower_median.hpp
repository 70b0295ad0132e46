// The median used as reference for slow ranks, hosts and steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace msprof::cluster {

// Returns the median; for an even count the lower of the two middle values, so that if half of a
// group is slow, the result is from the other half. Reorders `values`, which must not be empty.
template <typename Value>
Value lower_median(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace msprof::cluster
