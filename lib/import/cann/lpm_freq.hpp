// Frequencies and voltages of a device's AI cores over time, from the records of
// lpmFreqConv.data and lpmInfoConv.data. For lpm_freq.
// Source: cann_device.md 10, 23.4; cann_system.md 20.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "session/clock_map.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

using FrequencyChange = std::pair<std::uint64_t, std::uint32_t>;  // ticks, MHz

// Merges entries of two files about one device: if both have some, by time, equal ones once.
std::vector<FrequencyChange> merged(std::vector<FrequencyChange> entries,
                                    const std::vector<FrequencyChange>& others);

// Frequency changes that hold from the device's start on: entries before it only give the value
// then. Empty if there is no entry, and if one of them is 0 MHz: then the frequency of info.json
// holds.
std::vector<FrequencyChange> frequency_list(const std::vector<FrequencyChange>& entries,
                                            std::uint64_t start_ticks, std::uint32_t info_mhz);

// Window of a collection, wall clock; without an end nothing is known of it.
struct FrequencyWindow {
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;
};

// Returns the points of a track: one at the begin, the changes, one at the end. `initial` holds
// before the first entry; without it there is no point until one is known.
std::vector<CounterRow> frequency_points(const std::vector<FrequencyChange>& list,
                                         std::optional<std::uint32_t> initial,
                                         const ClockMap& clock, const FrequencyWindow& window);

}  // namespace msprof::cann
