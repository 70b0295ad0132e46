// for_each_counter_moment(): neighbouring samples of one subject and moment, put together as the
// line of the file that they came from. For products that have a row or an event for such a line.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "export/counter_samples.hpp"

namespace msprof {

template <std::size_t kCells>
struct CounterMoment {
  const CounterTrack* track = nullptr;  // of the first of the samples
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> begin_ns;
  std::array<CounterSample, kCells> cells{};

  bool has(std::size_t cell) const { return cells[cell].track != nullptr; }
  // What the sample shows, and what it is in the store; 0 where there is none.
  double shown(std::size_t cell) const { return has(cell) ? cells[cell].shown() : 0; }
  std::int64_t value(std::size_t cell) const { return has(cell) ? cells[cell].value : 0; }
};

// `place(track)`: the cell that a track fills; kCells or more for none.
template <std::size_t kCells, typename Place, typename Visit>
void for_each_counter_moment(CounterSamples& samples, Place&& place, Visit&& visit) {
  std::vector<std::size_t> places;
  for (const CounterTrack& track : samples.tracks()) places.push_back(place(track));
  CounterMoment<kCells> moment;
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    const std::size_t cell = places[track.index];
    if (cell >= kCells) continue;
    const bool goes_on = moment.track != nullptr && moment.time_ns == samples->time_ns &&
                         moment.begin_ns == samples->begin_ns &&
                         moment.track->device == track.device &&
                         moment.track->number == track.number && !moment.has(cell);
    if (!goes_on) {
      if (moment.track != nullptr) visit(moment);
      moment = {};
      moment.track = &track;
      moment.time_ns = samples->time_ns;
      moment.begin_ns = samples->begin_ns;
    }
    moment.cells[cell] = *samples;
  }
  if (moment.track != nullptr) visit(moment);
}

}  // namespace msprof
