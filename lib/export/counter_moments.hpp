// for_each_counter_moment(): neighbouring samples of one subject and moment, put together as the
// line of the file that they came from. for_each_time(): all samples of a device that have the same
// time. For products that have a row or an event for such a line or time.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "export/counter_samples.hpp"

namespace msprof {

template <std::size_t kCells>
struct CounterMoment {
  const CounterTrack* track = nullptr;  // of the first of the samples
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> begin_ns;  // of the first of the samples
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

// Gathers neighbours with the same device and time; a store can come from elsewhere, so that there
// are so many at most.
template <typename Visit>
void for_each_time(CounterSamples& samples, Visit&& visit) {
  constexpr std::size_t kMaxGroup = 1 << 16;
  std::vector<CounterSample> group;
  while (samples.next()) {
    if (!group.empty() &&
        (group.front().time_ns != samples->time_ns ||
         group.front().track->device != samples->track->device || group.size() == kMaxGroup)) {
      visit(std::span<const CounterSample>(group));
      group.clear();
    }
    group.push_back(*samples);
  }
  if (!group.empty()) visit(std::span<const CounterSample>(group));
}

// The die that a track of SIO is about, as products call it: its subject is "SIO die 0".
inline std::string_view sio_die(const CounterTrack& track) {
  constexpr std::string_view kSubject = "SIO ";
  std::string_view die = track.subject;
  if (die.starts_with(kSubject)) die.remove_prefix(kSubject.size());
  return die;
}

// Bandwidth between dies in MB/s, in the order in which others multiply: the same double.
inline double sio_megabytes(const CounterSample& sample) {
  if (!sample.begin_ns || *sample.begin_ns >= sample.time_ns) return 0;
  const auto ns = static_cast<double>(static_cast<int128>(sample.time_ns) - *sample.begin_ns);
  constexpr double kPerNs = 1e9 / (1 << 20);
  return static_cast<double>(sample.value) * kPerNs / ns;
}

}  // namespace msprof
