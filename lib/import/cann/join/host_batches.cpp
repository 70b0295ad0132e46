#include "import/cann/join/host_batches.hpp"

#include <algorithm>

namespace msprof {

void HostBatches::add_flip(std::uint16_t device, std::uint16_t stream, std::uint64_t time,
                           std::uint16_t task_number, bool is_destroy) {
  flips_.push_back({time, key(device, stream), task_number, 0, is_destroy});
}

void HostBatches::see_task(std::uint16_t device, std::uint16_t stream, std::uint64_t time) {
  Stream& seen = streams_[key(device, stream)];
  seen.last_time = std::max(seen.last_time, time);
}

void HostBatches::prepare() {
  // A flip takes effect when a task follows it.
  std::erase_if(flips_, [&](const Flip& flip) {
    const auto stream = streams_.find(flip.stream);
    return stream == streams_.end() || stream->second.last_time <= flip.time;
  });
  std::stable_sort(flips_.begin(), flips_.end(),
                   [](const Flip& a, const Flip& b) { return a.time < b.time; });
  for (auto flip = flips_.rbegin(); flip != flips_.rend(); ++flip) {
    Stream& stream = streams_[flip->stream];
    // What is ahead of the stream once this flip has been applied.
    flip->highest_ahead = stream.highest_ahead;
    if (!flip->is_destroy) stream.highest_ahead = std::max(stream.highest_ahead, flip->task_number);
  }
}

void HostBatches::push(const HostTrack& track) {
  while (next_flip_ < flips_.size() && flips_[next_flip_].time < track.time) {
    const Flip& flip = flips_[next_flip_++];
    apply(flip, flip.highest_ahead);
  }
  Stream& stream = streams_[key(track.device, track.stream)];
  const std::uint64_t place = first_ + tracks_.size();
  tracks_.push_back(track);
  tracks_.back().batch = stream.batch;
  const bool waits = track.task_number < stream.highest_ahead;
  waits_.push_back(waits);
  // A task that no flip can move keeps those before it, too.
  if (!waits) release(stream);
  if (waits) stream.held.push_back(place);
  find_undecided();
}

void HostBatches::apply(const Flip& flip, std::uint16_t highest_behind) {
  Stream& stream = streams_[flip.stream];
  ++stream.batch;
  if (!flip.is_destroy) {
    for (auto place = stream.held.rbegin(); place != stream.held.rend(); ++place) {
      HostTrack& track = tracks_[static_cast<std::size_t>(*place - first_)];
      if (track.task_number >= flip.task_number) break;
      track.batch = stream.batch;
    }
  }
  stream.highest_ahead = highest_behind;
  // Those before a task that no later flip can move are settled.
  const auto settled =
      std::find_if(stream.held.rbegin(), stream.held.rend(), [&](std::uint64_t place) {
        return tracks_[static_cast<std::size_t>(place - first_)].task_number >= highest_behind;
      });
  const auto count = static_cast<std::size_t>(stream.held.rend() - settled);
  for (std::size_t i = 0; i < count; ++i) {
    waits_[static_cast<std::size_t>(stream.held.front() - first_)] = false;
    stream.held.pop_front();
  }
}

void HostBatches::release(Stream& stream) {
  for (const std::uint64_t place : stream.held)
    waits_[static_cast<std::size_t>(place - first_)] = false;
  stream.held.clear();
}

void HostBatches::finish() {
  while (next_flip_ < flips_.size()) {
    const Flip& flip = flips_[next_flip_++];
    apply(flip, flip.highest_ahead);
  }
  for (auto& [number, stream] : streams_) release(stream);
  find_undecided();
}

void HostBatches::find_undecided() {
  const std::uint64_t end = first_ + tracks_.size();
  while (first_undecided_ < end && !waits_[static_cast<std::size_t>(first_undecided_ - first_)])
    ++first_undecided_;
}

void HostBatches::pop() {
  tracks_.pop_front();
  waits_.pop_front();
  ++first_;
}

}  // namespace msprof
