#include "export/unified/unified_counters.hpp"

#include <algorithm>

#include "base/number.hpp"

namespace msprof::unified {

std::int64_t device_of(const CounterTrack& track) {
  constexpr std::int64_t kHost = 31;
  return track.device.value_or(kHost);
}

std::int64_t base_units(const CounterSample& sample) {
  const int128 value = sample.numerator() * sample.track->divisor / sample.denominator();
  constexpr int128 kMost = INT64_MAX;
  return static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

void for_each_moment(const Database& db, std::string_view kind, std::size_t cells,
                     const std::function<std::size_t(const CounterTrack&)>& place,
                     const std::function<void(const Moment&)>& visit) {
  CounterSamples samples(db, kind, {});
  std::vector<std::size_t> places;
  for (const CounterTrack& track : samples.tracks()) places.push_back(place(track));
  Moment moment;
  const auto end = [&] {
    if (moment.track != nullptr) visit(moment);
    moment.track = nullptr;
  };
  while (samples.next()) {
    const CounterTrack& track = *samples->track;
    const std::size_t cell = places[track.index];
    if (cell >= cells) continue;
    const bool goes_on = moment.track != nullptr && moment.time_ns == samples->time_ns &&
                         moment.track->device == track.device &&
                         moment.track->number == track.number && moment.cells[cell] == kNull;
    if (!goes_on) {
      end();
      moment.track = &track;
      moment.time_ns = samples->time_ns;
      moment.begin_ns = samples->begin_ns;
      moment.cells.fill(kNull);
    }
    moment.cells[cell] = base_units(*samples);
  }
  end();
}

}  // namespace msprof::unified
