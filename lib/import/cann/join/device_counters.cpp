// DeviceTasks: counters find their tasks. A record belongs to the open task of its key within which
// it ended; the tasks of a moment have begun and not yet ended when its counters come.
#include <algorithm>

#include "import/cann/join/device_tasks.hpp"

namespace msprof {

namespace {

// How many open tasks of one key are looked at; a run has one.
constexpr int kMostOpenOfKey = 16;

}  // namespace

DeviceTasks::Slot DeviceTasks::open_task(std::uint16_t stream, std::uint16_t task_number,
                                         std::uint32_t context, std::uint16_t batch,
                                         bool wants_main) const {
  Slot slot = pairing_.first_open(TaskPairing::key_of(stream, task_number, context));
  for (int looks = 0; slot != TaskPairing::kNone && looks < kMostOpenOfKey; ++looks) {
    const Task& task = tasks_[slot];
    if (task.batch == batch && !(wants_main && task.counters != TaskCountersPool::kNone &&
                                 counters_[task.counters].has_main))
      return slot;
    slot = pairing_.next_open(slot);
  }
  return TaskPairing::kNone;
}

TaskCounterState& DeviceTasks::counters_of(Task& task) {
  if (task.counters == TaskCountersPool::kNone) task.counters = counters_.take();
  return counters_[task.counters];
}

void DeviceTasks::push(const TaskCounters& counters) {
  reach(counters.end.ticks);
  flush_starts();
  const std::uint16_t batch = counter_batches_.batch_of(counters.stream, counters.end);
  const Slot slot = open_task(counters.stream, counters.task_number, counters.context, batch, true);
  if (slot == TaskPairing::kNone) {
    ++counts_.counters_without_task;
    return;
  }
  TaskCounterState& state = counters_of(tasks_[slot]);
  state.main = counters.values;
  state.kind = counters.kind;
  state.frequency_mhz = frequency_at(counters.end.ticks);
  state.has_main = true;
}

void DeviceTasks::push(const BlockCounters& counters) {
  reach(counters.end.ticks);
  flush_starts();
  const std::uint16_t batch = block_batches_.batch_of(counters.stream, counters.end);
  const Slot slot =
      open_task(counters.stream, counters.task_number, counters.context, batch, false);
  if (slot == TaskPairing::kNone) {
    ++counts_.blocks_without_task;
    return;
  }
  Task& task = tasks_[slot];
  TaskCounterState& state = counters_of(task);
  if (!state.has_blocks) {
    const bool has_op = task.has_host && task.host.op_id != kNull && settings_.ops != nullptr;
    state.blocks_left = has_op ? settings_.ops->mix_block_num(task.host.op_id) : 0;
    state.block_kind = counters.kind;
    state.has_blocks = true;
  }
  if (state.blocks_left <= 0 || state.block_kind != counters.kind) {
    ++counts_.blocks_without_task;
    return;
  }
  --state.blocks_left;
  add_counters(state.blocks, counters.values);
}

std::int64_t DeviceTasks::frequency_at(std::uint64_t ticks) const {
  if (settings_.frequencies == nullptr) return settings_.frequency_mhz;
  const auto after = std::upper_bound(
      settings_.frequencies->begin(), settings_.frequencies->end(), ticks,
      [](std::uint64_t moment, const auto& change) { return moment < change.first; });
  if (after == settings_.frequencies->begin()) return settings_.frequency_mhz;
  return (after - 1)->second;
}

}  // namespace msprof
