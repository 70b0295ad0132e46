// for_each_counter_moment(): groups neighbouring samples of one subject and time, which were one
// line of the raw file. for_each_time(): groups all samples of a device with the same time.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "export/scope/counter_samples.hpp"

namespace msprof {

template <std::size_t kCells>
struct CounterMoment {
  const CounterTrack* track = nullptr;  // of the first sample
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> begin_ns;  // of the first sample
  std::array<CounterSample, kCells> cells{};

  bool has(std::size_t cell) const { return cells[cell].track != nullptr; }
  // The value as shown in the track's unit, and as stored; 0 if the cell is empty.
  double shown(std::size_t cell) const { return has(cell) ? cells[cell].shown() : 0; }
  std::int64_t value(std::size_t cell) const { return has(cell) ? cells[cell].value : 0; }
};

// `place(track)` returns the cell that a track fills, or kCells or more to ignore the track.
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

// Groups neighbouring samples with the same device and time. The size of a group is limited because
// the store is untrusted input.
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

// Returns the die of an SIO track as products name it: the subject without "SIO ", as in "die 0".
inline std::string_view sio_die(const CounterTrack& track) {
  constexpr std::string_view kSubject = "SIO ";
  std::string_view die = track.subject;
  if (die.starts_with(kSubject)) die.remove_prefix(kSubject.size());
  return die;
}

// Returns the bandwidth between dies in MB/s. Multiplies in the vendor's order, so that the double
// is identical.
inline double sio_megabytes(const CounterSample& sample) {
  if (!sample.begin_ns || *sample.begin_ns >= sample.time_ns) return 0;
  const auto ns = static_cast<double>(static_cast<int128>(sample.time_ns) - *sample.begin_ns);
  constexpr double kPerNs = 1e9 / (1 << 20);
  return static_cast<double>(sample.value) * kPerNs / ns;
}

}  // namespace msprof
