// Parts that the tables of counters in the unified database share: cells of samples, and the
// samples of one moment as one row. For unified/.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/number.hpp"
#include "export/counter_moments.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

// Device number of a track; of the host that which timelines give it.
std::int64_t device_of(const CounterTrack& track);

// A value as a cell: what does not fit is the largest, or its negative.
std::int64_t wide_cell(int128 value);

// What a sample is in the unit without its factor, the fraction cut: bytes a second of MB/s.
std::int64_t base_units(const CounterSample& sample);

// The samples of a CounterMoment in their base_units(); kNull where there is none.
template <std::size_t kCells>
struct Moment {
  const CounterTrack* track = nullptr;  // of the first of them
  std::int64_t time_ns = 0;
  std::array<std::int64_t, kCells> cells{};
};

// Shows the moments of a kind; `place(track)` is the cell that a track fills, kCells or more for
// none.
template <std::size_t kCells, typename Place, typename Visit>
void for_each_moment(const Database& db, std::string_view kind, Place&& place, Visit&& visit) {
  CounterSamples samples(db, kind, {});
  for_each_counter_moment<kCells>(samples, place, [&](const CounterMoment<kCells>& found) {
    Moment<kCells> moment{found.track, found.time_ns, {}};
    for (std::size_t i = 0; i < kCells; ++i)
      moment.cells[i] = found.has(i) ? base_units(found.cells[i]) : kNull;
    visit(moment);
  });
}

}  // namespace msprof::unified
