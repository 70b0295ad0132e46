#include "export/unified/unified_counters.hpp"

#include <algorithm>

#include "export/scope/cann_rules.hpp"

namespace msprof::unified {

std::int64_t device_or_host(const CounterTrack& track) {
  return track.device.value_or(cann::kHostDevice);
}

std::int64_t wide_cell(int128 value) {
  constexpr int128 kMaxCell = INT64_MAX;
  return static_cast<std::int64_t>(std::clamp(value, -kMaxCell, kMaxCell));
}

std::int64_t base_units(const CounterSample& sample) {
  return wide_cell(sample.numerator() * sample.track->divisor / sample.denominator());
}

}  // namespace msprof::unified
