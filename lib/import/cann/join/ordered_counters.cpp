#include "import/cann/join/ordered_counters.hpp"

namespace msprof::cann {

namespace {

// How many records are read ahead of the tasks: a few times the task ids of a stream.
constexpr std::size_t kMostWaiting = std::size_t{1} << 18;

}  // namespace

bool CounterQueue::take(std::uint16_t stream, std::uint16_t task_number, CoreCounters& values) {
  if (stream_ == nullptr) return false;
  ++asked_;
  const std::uint32_t key = static_cast<std::uint32_t>(stream) << 16 | task_number;
  const std::uint32_t place = first_.find(key);
  if (place != FlatTable::kNone) {
    values = waiting_[place].values;
    unlink(place);
    return true;
  }
  for (const StreamRecord* record = stream_->front(); record != nullptr && make_room();
       record = stream_->front()) {
    const AicoreRecord counters = decode_(*record);
    stream_->pop();
    const std::uint32_t found =
        static_cast<std::uint32_t>(counters.stream) << 16 | counters.task_number;
    if (found == key) {
      values = counters.values;
      return true;
    }
    wait(found, counters.values);
  }
  return false;
}

// Records that have waited for long belong to no task: theirs is missing.
bool CounterQueue::make_room() {
  while (!arrival_.empty() && !waiting_[arrival_.front()].is_waiting) {
    free_.push_back(arrival_.front());
    arrival_.pop_front();
  }
  if (count_ < kMostWaiting) return true;
  const std::uint32_t oldest = arrival_.front();
  if (asked_ - waiting_[oldest].asked <= kMostWaiting) return false;
  unlink(oldest);
  ++given_up_;
  return true;
}

void CounterQueue::wait(std::uint32_t key, const CoreCounters& values) {
  std::uint32_t place = static_cast<std::uint32_t>(waiting_.size());
  if (free_.empty()) {
    waiting_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  waiting_[place] = {key, FlatTable::kNone, place, asked_, values, true};
  arrival_.push_back(place);
  ++count_;
  const std::uint32_t first = first_.find(key);
  if (first == FlatTable::kNone) {
    first_.set(key, place);
    return;
  }
  waiting_[waiting_[first].last].next = place;
  waiting_[first].last = place;
}

// The first of its key; its place is free once it is the oldest.
void CounterQueue::unlink(std::uint32_t place) {
  Waiting& entry = waiting_[place];
  entry.is_waiting = false;
  --count_;
  if (entry.next == FlatTable::kNone) {
    first_.erase(entry.key);
  } else {
    waiting_[entry.next].last = entry.last;
    first_.set(entry.key, entry.next);
  }
}

std::uint64_t CounterQueue::left() {
  std::uint64_t count = given_up_ + count_;
  if (stream_ == nullptr) return count;
  for (; stream_->front() != nullptr; stream_->pop()) ++count;
  return count;
}

}  // namespace msprof::cann
