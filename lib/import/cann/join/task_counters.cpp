#include "import/cann/join/task_counters.hpp"

#include <algorithm>

namespace msprof {

namespace {

std::int64_t cell(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

void put(std::int64_t* cells, std::size_t cycles, const CoreCounters& side) {
  cells[cycles] = cell(side.total_cycles);
  for (std::size_t slot = 0; slot < kPmuSlots; ++slot)
    cells[cycles + 1 + slot] = cell(side.counters[slot]);
}

}  // namespace

std::uint32_t TaskCountersPool::take() {
  if (free_.empty()) {
    states_.emplace_back();
    return static_cast<std::uint32_t>(states_.size() - 1);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  states_[number] = {};
  return number;
}

void add_counters(CoreCounters& sum, const CoreCounters& more) {
  sum.total_cycles += more.total_cycles;
  for (std::size_t slot = 0; slot < kPmuSlots; ++slot) sum.counters[slot] += more.counters[slot];
}

TaskPmuRow pmu_row(std::int64_t task_id, const TaskCounterState& state) {
  TaskPmuRow row;
  row.task_id = task_id;
  const bool is_mix = state.kind == CoreKind::mix_aic || state.kind == CoreKind::mix_aiv;
  const bool is_aic = state.kind == CoreKind::aic || state.kind == CoreKind::mix_aic;
  const CoreCounters none;
  const bool has_other = is_mix && state.has_blocks && state.block_kind == state.kind;
  const CoreCounters& other = has_other ? state.blocks : none;
  row.c[PmuCells::kFrequency] = state.frequency_mhz;
  put(row.c, PmuCells::kAicCycles, is_aic ? state.main : other);
  put(row.c, PmuCells::kAivCycles, is_aic ? other : state.main);
  row.c[PmuCells::kCoreKind] = static_cast<std::int64_t>(state.kind);
  return row;
}

}  // namespace msprof
