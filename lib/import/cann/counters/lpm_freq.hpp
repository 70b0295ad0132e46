// Frequencies and voltages of a device's AI cores over time, from lpmFreqConv.data and
// lpmInfoConv.data. Source: cann_device.md 10, 23.4; cann_system.md 20.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "session/clock_map.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

using FrequencyChange = std::pair<std::uint64_t, std::uint32_t>;  // ticks, MHz

// Merges entries of two files about one device, sorted by time and without duplicates. If one list
// is empty, the other is returned unchanged.
std::vector<FrequencyChange> merged(std::vector<FrequencyChange> entries,
                                    const std::vector<FrequencyChange>& others);

// Returns frequency changes from the device's start on; earlier entries only set the initial value.
// Empty if there are no entries or if any of them is 0 MHz; then the frequency of info.json
// applies.
std::vector<FrequencyChange> frequency_list(const std::vector<FrequencyChange>& entries,
                                            std::uint64_t start_ticks, std::uint32_t info_mhz);

// Time window of a collection, wall clock. end_ns is empty if unknown.
struct FrequencyWindow {
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;
};

// Returns the points of a track: one at the start, one per change, one at the end. `initial`
// applies before the first entry; without it, the first point is at the first known value.
std::vector<CounterRow> frequency_points(const std::vector<FrequencyChange>& list,
                                         std::optional<std::uint32_t> initial,
                                         const ClockMap& clock, const FrequencyWindow& window);

}  // namespace msprof::cann
