#include "import/cann/join/task_matching.hpp"

#include <algorithm>

#include "import/cann/join/host_tasks.hpp"

namespace msprof {

void DeviceBatches::add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number) {
  std::uint32_t number = numbers_.find(stream);
  if (number == FlatTable::kNotFound) {
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

void DeviceBatches::see(std::uint16_t stream_id, RecordOrder place, std::uint32_t task_number) {
  if (streams_.empty()) return;
  const std::uint32_t number = numbers_.find(stream_id);
  if (number == FlatTable::kNotFound || !streams_[number].walks) return;
  Stream& stream = streams_[number];
  sort(stream);
  if (!stream.has_first || place < stream.first) stream.first = place;
  stream.has_first = true;
  const auto flip =
      std::lower_bound(stream.flips.begin(), stream.flips.end(), place.ticks,
                       [](const Flip& a, std::uint64_t ticks) { return a.ticks < ticks; });
  if (flip == stream.flips.end()) return;
  auto& steps = flip->steps;
  // Almost always at the end, because records are nearly in order of time.
  auto at = steps.end();
  while (at != steps.begin() && place < (at - 1)->place) --at;
  if (at != steps.end() && at->task_number >= task_number) return;
  auto from = at;
  while (from != steps.begin() && (from - 1)->task_number <= task_number) --from;
  steps.insert(steps.erase(from, at), Flip::Step{place, task_number});
}

// Returns the last position of the batch before a flip. If the flip has a task id, the records just
// before it with ids up to that id belong to the next batch, except for the stream's first record.
RecordOrder DeviceBatches::batch_border(const Stream& stream, std::size_t number) {
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
  return has_records ? stream.first : RecordOrder{};
}

void DeviceBatches::finish() {
  for (Stream& stream : streams_) {
    sort(stream);
    for (std::size_t flip = 0; flip < stream.flips.size(); ++flip)
      stream.flips[flip].cut = batch_border(stream, flip);
    // Makes the cuts ascending: a cut must not be after the cut of a later flip.
    for (std::size_t flip = stream.flips.size(); flip-- > 1;) {
      RecordOrder& before = stream.flips[flip - 1].cut;
      if (stream.flips[flip].cut < before) before = stream.flips[flip].cut;
    }
    for (Flip& flip : stream.flips) flip.steps = {};
  }
}

std::uint16_t DeviceBatches::batch_in(Stream& stream, RecordOrder place) {
  while (stream.cursor < stream.flips.size() && stream.flips[stream.cursor].cut < place)
    ++stream.cursor;
  return static_cast<std::uint16_t>(std::min<std::size_t>(stream.cursor, UINT16_MAX));
}

namespace {

// Offset of balances, so that no balance equals FlatTable::kNotFound.
constexpr std::uint32_t kEven = std::uint32_t{1} << 31;

}  // namespace

std::uint64_t TaskPairing::make_key(std::uint16_t stream, std::uint32_t task_number,
                                    std::uint32_t context) {
  const std::uint64_t task = static_cast<std::uint64_t>(task_number) << 16 | stream;
  // Contexts in records have 16 bits, and only tasks with 16-bit numbers have a context.
  constexpr std::uint64_t kWhole = std::uint64_t{1} << 63;
  return context == kInvalidId ? kWhole | task : std::uint64_t{context & 0xFFFFU} << 32 | task;
}

void TaskPairing::count(std::uint64_t key, bool is_start) {
  const std::uint32_t found = balance_.find(key);
  const std::uint32_t before = found == FlatTable::kNotFound ? kEven : found;
  const std::uint32_t after = is_start ? before + 1 : before - 1;
  if (after == kEven) {
    balance_.erase(key);
  } else {
    balance_.set(key, after);
  }
}

void TaskPairing::begin() {
  links_.clear();
  free_.clear();
  open_ = {};
}

TaskPairing::Slot TaskPairing::take_slot() {
  if (!free_.empty()) {
    const Slot slot = free_.back();
    free_.pop_back();
    links_[slot] = {};
    return slot;
  }
  links_.emplace_back();
  return static_cast<Slot>(links_.size() - 1);
}

TaskPairing::Started TaskPairing::start(std::uint64_t key) {
  Started started;
  started.slot = take_slot();
  links_[started.slot].last = started.slot;
  const Slot first = open_.find(key);
  if (first == kNoSlot) {
    open_.set(key, started.slot);
  } else if (balance_.find(key) != FlatTable::kNotFound) {
    started.given_up = first;
    open_.set(key, started.slot);
  } else {
    links_[links_[first].last].next = started.slot;
    links_[first].last = started.slot;
  }
  return started;
}

TaskPairing::Slot TaskPairing::end(std::uint64_t key) {
  const Slot first = open_.find(key);
  if (first == kNoSlot) return kNoSlot;
  const Slot next = links_[first].next;
  if (next == kNoSlot) {
    open_.erase(key);
  } else {
    links_[next].last = links_[first].last;
    open_.set(key, next);
  }
  return first;
}

TaskPairing::Slot TaskPairing::last_open(std::uint64_t key) const {
  const Slot first = open_.find(key);
  return first == kNoSlot ? kNoSlot : links_[first].last;
}

std::vector<TaskPairing::Slot> TaskPairing::still_open() const {
  std::vector<Slot> slots;
  open_.for_each([&](std::uint64_t, std::uint32_t first) {
    for (Slot slot = first; slot != kNoSlot; slot = links_[slot].next) slots.push_back(slot);
  });
  std::sort(slots.begin(), slots.end());
  return slots;
}

}  // namespace msprof
