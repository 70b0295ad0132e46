#include "import/cann/join/device_batches.hpp"

#include <algorithm>

namespace msprof {

void DeviceBatches::add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number) {
  std::uint32_t number = numbers_.find(stream);
  if (number == FlatTable::kNone) {
    number = static_cast<std::uint32_t>(streams_.size());
    numbers_.set(stream, number);
    streams_.emplace_back();
  }
  Flip flip;
  flip.ticks = ticks;
  flip.task_number = task_number;
  streams_[number].walks = streams_[number].walks || flip.walks();
  streams_[number].flips.push_back(std::move(flip));
}

void DeviceBatches::sort(Stream& stream) {
  if (stream.is_sorted) return;
  std::stable_sort(stream.flips.begin(), stream.flips.end(),
                   [](const Flip& a, const Flip& b) { return a.ticks < b.ticks; });
  stream.is_sorted = true;
}

void DeviceBatches::see(std::uint16_t stream_id, DevicePlace place, std::uint16_t task_number) {
  if (streams_.empty()) return;
  const std::uint32_t number = numbers_.find(stream_id);
  if (number == FlatTable::kNone || !streams_[number].walks) return;
  Stream& stream = streams_[number];
  sort(stream);
  if (!stream.has_first || place < stream.first) stream.first = place;
  stream.has_first = true;
  const auto flip =
      std::lower_bound(stream.flips.begin(), stream.flips.end(), place.ticks,
                       [](const Flip& a, std::uint64_t ticks) { return a.ticks < ticks; });
  if (flip == stream.flips.end()) return;
  auto& steps = flip->steps;
  // Nearly always at the end: records come nearly in order of time.
  auto at = steps.end();
  while (at != steps.begin() && place < (at - 1)->place) --at;
  if (at != steps.end() && at->task_number >= task_number) return;
  auto from = at;
  while (from != steps.begin() && (from - 1)->task_number <= task_number) --from;
  steps.insert(steps.erase(from, at), Flip::Step{place, task_number});
}

// A flip with a task id of its own takes the records before it whose ids are not greater, up to but
// without the first record of the stream.
DevicePlace DeviceBatches::cut_of(const Stream& stream, std::size_t number) {
  const Flip& flip = stream.flips[number];
  if (!flip.walks()) return {flip.ticks, UINT64_MAX};
  bool has_records = false;
  for (std::size_t before = number + 1; before-- > 0;) {
    const auto& steps = stream.flips[before].steps;
    has_records = has_records || !steps.empty();
    const auto step = std::find_if(steps.rbegin(), steps.rend(), [&](const Flip::Step& candidate) {
      return candidate.task_number > flip.task_number;
    });
    if (step != steps.rend()) return step->place;
  }
  return has_records ? stream.first : DevicePlace{};
}

void DeviceBatches::finish() {
  for (Stream& stream : streams_) {
    sort(stream);
    for (std::size_t flip = 0; flip < stream.flips.size(); ++flip)
      stream.flips[flip].cut = cut_of(stream, flip);
    // What a later flip took, an earlier one no longer has.
    for (std::size_t flip = stream.flips.size(); flip-- > 1;) {
      DevicePlace& before = stream.flips[flip - 1].cut;
      if (stream.flips[flip].cut < before) before = stream.flips[flip].cut;
    }
    for (Flip& flip : stream.flips) flip.steps = {};
  }
}

std::uint16_t DeviceBatches::batch_in(Stream& stream, DevicePlace place) {
  while (stream.cursor < stream.flips.size() && stream.flips[stream.cursor].cut < place)
    ++stream.cursor;
  return static_cast<std::uint16_t>(std::min<std::size_t>(stream.cursor, UINT16_MAX));
}

}  // namespace msprof
