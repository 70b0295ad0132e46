// Parts that the tables of counters in the unified database share: cells of samples, and the
// samples of one moment as one row. For unified/.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "export/counter_samples.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

// Device number of a track; of the host that which timelines give it.
std::int64_t device_of(const CounterTrack& track);

// What a sample is in the unit without its factor, the fraction cut: bytes a second of MB/s.
std::int64_t base_units(const CounterSample& sample);

// Samples of one moment, of one device and subject number.
struct Moment {
  static constexpr std::size_t kMaxCells = 24;
  const CounterTrack* track = nullptr;  // of the first of them
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> begin_ns;
  std::array<std::int64_t, kMaxCells> cells{};  // base_units(); kNull where there is none
};

// Gathers neighbouring samples of a kind with the same device, subject number and time; `place`
// says which cell a track fills.
void for_each_moment(const Database& db, std::string_view kind, std::size_t cells,
                     const std::function<std::size_t(const CounterTrack&)>& place,
                     const std::function<void(const Moment&)>& visit);

}  // namespace msprof::unified
