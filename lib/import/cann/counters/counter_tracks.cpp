#include "import/cann/counters/counter_tracks.hpp"

#include <algorithm>

#include "base/number.hpp"

namespace msprof::cann {

CounterTracks::CounterTracks(CannImport& import, const ImportContext& context,
                             std::string_view kind)
    : import_(import), context_(context), kind_name_id_(context.store.name_id(kind)) {}

void CounterTracks::write() {
  for (const TrackRow& track : tracks_) {
    if (track.first_sample_id != kNull) context_.store.add(track);
  }
}

bool CounterTracks::has_samples() const {
  return std::any_of(tracks_.begin(), tracks_.end(),
                     [](const TrackRow& track) { return track.first_sample_id != kNull; });
}

std::size_t CounterTracks::open(const TrackName& name) {
  TrackRow track;
  track.id = ++import_.tracks;
  if (name.device) track.device_id = *name.device;
  track.kind_name_id = kind_name_id_;
  track.subject_name_id = name_or_null(name.subject);
  track.number = name.number;
  track.part = name.part;
  track.detail_name_id = name_or_null(name.detail);
  track.name_id = name_or_null(name.counter);
  track.unit_name_id = name_or_null(name.unit);
  track.divisor = name.divisor;
  track.is_rate = name.is_rate ? 1 : 0;
  tracks_.push_back(track);
  return tracks_.size() - 1;
}

bool has_later_layout(const CannPart& part) {
  return part.info.version == "2.0";
}

bool check_start(const ImportContext& context, const CannPart& part, std::string_view kind) {
  if (part.start) return true;
  context.report.add(FindingId::no_clock, kind, part.name, "no times",
                     "a start log is missing, so the times of the samples are unknown");
  return false;
}

bool is_time(const CannSession& session, std::int64_t ns) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  constexpr std::int64_t kMaxDuration = 30 * kDay;
  if (ns <= 0 || ns == INT64_MAX) return false;
  const std::int64_t begin = session.begin_ns();
  // If the start of the collection is unknown, times are since the machine started: accept all.
  return begin == 0 ||
         (ns >= saturating_subtract(begin, kDay) && ns <= saturating_add(begin, kMaxDuration));
}

void tell_unexpected(const CannImport& import, const ImportContext& context, const CannPart& part,
                     std::string_view kind, std::initializer_list<int> chips) {
  const auto& chip = import.session.chip();
  if (!chip || std::find(chips.begin(), chips.end(), chip->platform) != chips.end()) return;
  context.report.add(
      FindingId::unexpected_kind, kind, part.name, "not expected on this chip",
      "the vendor's tool does not read it on " + std::string(chip->name) + "; msprof reads it");
}

}  // namespace msprof::cann
