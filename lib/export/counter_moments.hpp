// for_each_time(): the samples of a device that have the same time, together. For layers and tables
// that show one event or row of several of them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "export/counter_samples.hpp"

namespace msprof {

// Gathers neighbours with the same device and time; a store can come from elsewhere, so that there
// are so many at most.
template <typename Visit>
void for_each_time(CounterSamples& samples, Visit&& visit) {
  constexpr std::size_t kMost = 1 << 16;
  std::vector<CounterSample> group;
  while (samples.next()) {
    if (!group.empty() &&
        (group.front().time_ns != samples->time_ns ||
         group.front().track->device != samples->track->device || group.size() == kMost)) {
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
