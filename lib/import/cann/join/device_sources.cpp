#include "import/cann/join/device_sources.hpp"

#include <algorithm>
#include <tuple>

namespace msprof::cann {

namespace {

// Chips that need states; cann_device.md 1.
constexpr int k910a = 1;
constexpr int k310p = 4;
// Tag 12.
enum : std::uint16_t { kReceived = 0, kStarted = 1, kEnded = 2 };
// Tag 3.
enum : std::uint16_t { kRunning = 2, kComplete = 3 };
// Behind the places of records of files.
constexpr std::uint64_t kFirstSequence = std::uint64_t{1} << 62;

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
  for (const TaskState& state : states) {
    const bool is_same =
        open != nullptr && open->stream == state.stream && open->task_number == state.task_number;
    if (state.state == begin) {
      if (open != nullptr) ++incomplete_;
      open = &state;
    } else if (state.state == end && is_same) {
      tasks_.push_back(
          {state.stream, state.task_number, state.task_type, false, open->ticks, state.ticks});
      open = nullptr;
    } else if (state.state == end) {
      ++incomplete_;
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

std::vector<DeviceLog> StateTasks::logs(DeviceTypes& types) const {
  std::vector<DeviceLog> logs;
  std::uint64_t sequence = kFirstSequence;
  for (const Task& task : tasks_) {
    if (task.is_seen) continue;
    DeviceLog log;
    log.type_name_id = are_stand_ins_ ? kNull : types.sqe(task.type);
    log.stream = task.stream;
    log.task_number = task.task_number;
    log.is_stand_in = are_stand_ins_;
    log.has_ordered_pmu = is_mini_ && task.type == kSqeAiCore;
    log.is_start = true;
    log.place = {task.start, sequence++};
    logs.push_back(log);
    log.is_start = false;
    log.place = {task.end, sequence++};
    logs.push_back(log);
  }
  std::sort(logs.begin(), logs.end(),
            [](const DeviceLog& a, const DeviceLog& b) { return a.place < b.place; });
  return logs;
}

}  // namespace msprof::cann
