// TaskCountersPool: the counters of tasks that have not been written yet: those of the task and, of
// MIX tasks, the sum of its blocks on the other cores; as a row of task_pmu.
// Sources: cann_device.md 6.1, 6.2, cann_corrections.md B3, B4, J-B4.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/join/device_log.hpp"
#include "store/rows/task_rows.hpp"

namespace msprof {

struct TaskCounterState {
  CoreCounters main;
  CoreCounters blocks;
  std::int64_t frequency_mhz = 0;
  std::int64_t blocks_left = 0;  // that may still be added
  CoreKind kind = CoreKind::aic;
  CoreKind block_kind = CoreKind::aic;
  bool has_main = false;
  bool has_blocks = false;
};

class TaskCountersPool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t take();
  void release(std::uint32_t number) { free_.push_back(number); }
  TaskCounterState& operator[](std::uint32_t number) { return states_[number]; }
  const TaskCounterState& operator[](std::uint32_t number) const { return states_[number]; }

 private:
  std::vector<TaskCounterState> states_;
  std::vector<std::uint32_t> free_;
};

void add_counters(CoreCounters& sum, const CoreCounters& more);
TaskPmuRow pmu_row(std::int64_t task_id, const TaskCounterState& state);

// The columns of such rows, by their places in TaskPmuRow::c.
struct PmuCells {
  static constexpr std::size_t kFrequency = 0;
  static constexpr std::size_t kAicCycles = 1;
  static constexpr std::size_t kAicSlots = 2;
  static constexpr std::size_t kAivCycles = kAicSlots + kPmuSlots;
  static constexpr std::size_t kAivSlots = kAivCycles + 1;
  static constexpr std::size_t kCoreKind = kAivSlots + kPmuSlots;
};
static_assert(PmuCells::kCoreKind + 1 == kPmuColumns);

}  // namespace msprof
