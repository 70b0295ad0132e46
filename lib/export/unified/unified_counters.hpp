// Helpers shared by the tables of counters in the unified database: cells of samples, and the
// samples of one time as a row. For unified/.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/number.hpp"
#include "export/scope/counter_moments.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

// Returns the device number of a track; for the host the number that timelines use.
std::int64_t device_or_host(const CounterTrack& track);

// Converts a value to a cell; clamps it to ±INT64_MAX.
std::int64_t wide_cell(int128 value);

// Returns the value in the unit without its prefix, truncated: bytes per second for MB/s.
std::int64_t base_units(const CounterSample& sample);

// The samples of a CounterMoment in base_units(); kNull if a sample is missing.
template <std::size_t kCells>
struct UnifiedMoment {
  const CounterTrack* track = nullptr;  // track of the first sample
  std::int64_t time_ns = 0;
  std::array<std::int64_t, kCells> cells{};
};

// Visits the samples of a kind grouped by time. `place(track)` returns the cell that a track fills,
// or kCells or more to ignore the track.
template <std::size_t kCells, typename Place, typename Visit>
void for_each_moment(const Database& db, std::string_view kind, Place&& place, Visit&& visit) {
  CounterSamples samples(db, kind, {});
  for_each_counter_moment<kCells>(samples, place, [&](const CounterMoment<kCells>& found) {
    UnifiedMoment<kCells> moment{found.track, found.time_ns, {}};
    for (std::size_t i = 0; i < kCells; ++i)
      moment.cells[i] = found.has(i) ? base_units(found.cells[i]) : kNull;
    visit(moment);
  });
}

}  // namespace msprof::unified
