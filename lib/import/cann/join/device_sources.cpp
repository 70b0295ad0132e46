#include "import/cann/join/device_sources.hpp"

#include <algorithm>
#include <tuple>

namespace msprof::cann {

namespace {

// Chips whose tasks are also read from states (cann_device.md 1).
constexpr int k910a = 1;
constexpr int k310p = 4;
// States of tag 12.
enum : std::uint16_t { kReceived = 0, kStarted = 1, kEnded = 2 };
// States of tag 3. The values between kPending and kCoreStart, and above the last one, have no
// meaning.
enum : std::uint16_t {
  kWaiting = 1,
  kRunning = 2,
  kComplete = 3,
  kPending = 4,
  kCoreStart = 7,
  kAicpuSecondStart = 9
};

bool is_time_line_state(std::uint16_t state) {
  return (state >= kWaiting && state <= kPending) ||
         (state >= kCoreStart && state <= kAicpuSecondStart);
}
// Greater than the sequence number of any record of a file.
constexpr std::uint64_t kFirstSequence = std::uint64_t{1} << 62;

// Limit of counters that wait for their task: a few times the task ids of a stream.
constexpr std::size_t kMaxWaiting = std::size_t{1} << 18;

}  // namespace

StateTasks::StateTasks(std::span<const TaskState> states, const Chip& chip)
    : are_stand_ins_(chip.platform == k310p), is_mini_(chip.family == ChipFamily::mini) {
  std::vector<TaskState> wanted;
  if (is_mini_ || are_stand_ins_) {
    wanted.assign(states.begin(), states.end());
  } else if (chip.platform == k910a) {
    std::copy_if(states.begin(), states.end(), std::back_inserter(wanted),
                 [](const TaskState& state) { return state.task_type == kSqeAiCpu; });
  }
  if (is_mini_) {
    unknown_states_ = static_cast<std::uint64_t>(
        std::count_if(wanted.begin(), wanted.end(),
                      [](const TaskState& state) { return !is_time_line_state(state.state); }));
    pair(std::move(wanted), kRunning, kComplete);
  } else {
    pair(std::move(wanted), are_stand_ins_ ? kReceived : kStarted, kEnded);
  }
}

void StateTasks::pair(std::vector<TaskState> states, std::uint16_t begin, std::uint16_t end) {
  std::stable_sort(states.begin(), states.end(), [](const TaskState& a, const TaskState& b) {
    return std::tie(a.stream, a.task_number, a.ticks, a.state) <
           std::tie(b.stream, b.task_number, b.ticks, b.state);
  });
  const TaskState* open = nullptr;
  const TaskState* last = nullptr;
  Ticks waits;
  for (const TaskState& state : states) {
    if (last != nullptr &&
        std::tie(last->stream, last->task_number) != std::tie(state.stream, state.task_number))
      waits = {};
    last = &state;
    if (is_mini_ && state.state == kWaiting) waits.waiting = state.ticks;
    if (is_mini_ && state.state == kPending) waits.pending = state.ticks;
    const bool is_same =
        open != nullptr && open->stream == state.stream && open->task_number == state.task_number;
    if (state.state == begin) {
      if (open != nullptr) ++incomplete_;
      open = &state;
    } else if (state.state == end && is_same) {
      tasks_.push_back({state.stream, state.task_number, state.task_type, false, open->ticks,
                        state.ticks, waits});
      open = nullptr;
      waits = {};
    } else if (state.state == end) {
      ++incomplete_;
      waits = {};
    }
  }
  if (open != nullptr) ++incomplete_;
}

void StateTasks::seen(std::uint16_t stream, std::uint16_t task_number, std::uint64_t ticks) {
  const auto after =
      std::upper_bound(tasks_.begin(), tasks_.end(), std::tie(stream, task_number, ticks),
                       [](const auto& key, const Task& task) {
                         return key < std::tie(task.stream, task.task_number, task.start);
                       });
  if (after == tasks_.begin()) return;
  Task& task = *(after - 1);
  if (task.stream == stream && task.task_number == task_number && ticks <= task.end)
    task.is_seen = true;
}

TaskWaits::Ticks StateTasks::find(std::uint16_t stream, std::uint32_t task_number,
                                  std::uint64_t start_ticks) const {
  const auto number = static_cast<std::uint16_t>(task_number);
  const auto at =
      std::lower_bound(tasks_.begin(), tasks_.end(), std::tie(stream, number, start_ticks),
                       [](const Task& task, const auto& key) {
                         return std::tie(task.stream, task.task_number, task.start) < key;
                       });
  const bool is_it = at != tasks_.end() && at->stream == stream && at->task_number == number &&
                     at->start == start_ticks;
  return is_it ? at->waits : Ticks();
}

std::int64_t StateTasks::find_type(const Task& task, DeviceTypes& types) const {
  if (are_stand_ins_) return kNull;
  return is_mini_ ? types.runtime(task.type) : types.sqe(task.type);
}

std::size_t StateTasks::sort_logs(DeviceTypes& types) {
  for (std::uint32_t number = 0; number < tasks_.size(); ++number) {
    const Task& task = tasks_[number];
    if (task.is_seen) continue;
    find_type(task, types);  // gives names their ids in the order of tasks, not of logs
    logs_.push_back({task.start, number, false});
    logs_.push_back({task.end, number, true});
  }
  std::sort(logs_.begin(), logs_.end(), [](const LogKey& a, const LogKey& b) {
    return std::tie(a.ticks, a.task, a.is_end) < std::tie(b.ticks, b.task, b.is_end);
  });
  return logs_.size();
}

DeviceLog StateTasks::log(std::size_t number, DeviceTypes& types) const {
  const LogKey& key = logs_[number];
  const Task& task = tasks_[key.task];
  DeviceLog log;
  log.place = {key.ticks, kFirstSequence + 2 * std::uint64_t{key.task} + (key.is_end ? 1 : 0)};
  log.type_name_id = find_type(task, types);
  log.stream = task.stream;
  log.task_number = task.task_number;
  log.is_start = !key.is_end;
  log.is_placeholder = are_stand_ins_;
  log.has_ordered_pmu = is_mini_ && task.type == kSqeAiCore;
  return log;
}

bool CounterQueue::take(std::uint16_t stream, std::uint16_t task_number, CoreCounters& values) {
  if (!has_file()) return false;
  ++asked_;
  const std::uint32_t key = static_cast<std::uint32_t>(stream) << 16 | task_number;
  const std::uint32_t place = first_.find(key);
  if (place != FlatTable::kNotFound) {
    values = waiting_[place].values;
    unlink(place);
    return true;
  }
  while (has_more() && make_room()) {
    const AicoreRecord counters = read();
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

bool CounterQueue::has_more() {
  return stream_ != nullptr ? stream_->peek() != nullptr : next_ < records_.size();
}

AicoreRecord CounterQueue::read() {
  if (stream_ == nullptr) return records_[next_++];
  const AicoreRecord record = decode_(*stream_->peek());
  stream_->next();
  return record;
}

// Makes room by dropping the oldest record if it has waited too long, which means that its task is
// missing. Returns false if there is no room.
bool CounterQueue::make_room() {
  while (!arrival_.empty() && !waiting_[arrival_.front()].is_waiting) {
    free_.push_back(arrival_.front());
    arrival_.pop_front();
  }
  if (count_ < kMaxWaiting) return true;
  const std::uint32_t oldest = arrival_.front();
  if (asked_ - waiting_[oldest].asked <= kMaxWaiting) return false;
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
  waiting_[place] = {key, FlatTable::kNotFound, place, asked_, values, true};
  arrival_.push_back(place);
  ++count_;
  const std::uint32_t first = first_.find(key);
  if (first == FlatTable::kNotFound) {
    first_.set(key, place);
    return;
  }
  waiting_[waiting_[first].last].next = place;
  waiting_[first].last = place;
}

// Removes the first entry of its key. Its slot becomes free when it is the oldest one.
void CounterQueue::unlink(std::uint32_t place) {
  Waiting& entry = waiting_[place];
  entry.is_waiting = false;
  --count_;
  if (entry.next == FlatTable::kNotFound) {
    first_.erase(entry.key);
  } else {
    waiting_[entry.next].last = entry.last;
    first_.set(entry.key, entry.next);
  }
}

std::uint64_t CounterQueue::left() {
  std::uint64_t count = given_up_ + count_;
  if (stream_ == nullptr) return count + (records_.size() - next_);
  for (; stream_->peek() != nullptr; stream_->next()) ++count;
  return count;
}

}  // namespace msprof::cann
