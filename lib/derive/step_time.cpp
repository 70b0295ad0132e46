#include <algorithm>
#include <map>
#include <vector>

#include "base/saturating.hpp"
#include "derive/passes.hpp"

namespace msprof {

namespace {

struct Fold {
  StepTimeRow row;
  std::int64_t first_execution = INT64_MAX;
  std::int64_t last_execution = -1;

  void add(const Statement& task) {
    ++row.task_count;
    if (const auto execution = task.maybe_integer(0)) {
      first_execution = std::min(first_execution, *execution);
      last_execution = std::max(last_execution, *execution);
    }
    const auto start = task.maybe_integer(1);
    const auto duration = task.maybe_integer(2);
    if (start) {
      row.first_start_ns =
          row.first_start_ns == kNull ? *start : std::min(row.first_start_ns, *start);
    }
    if (start && duration)
      row.last_end_ns = std::max(row.last_end_ns, saturating_add(*start, *duration));
    if (!duration) return;
    // A sum that no longer fits stays at the largest value: it only ranks steps.
    const std::int64_t busy = std::max<std::int64_t>(row.busy_ns, 0);
    row.busy_ns = saturating_add(busy, *duration);
  }

  StepTimeRow finished() const {
    StepTimeRow result = row;
    if (last_execution >= first_execution && last_execution - first_execution < INT64_MAX) {
      result.execution_count = last_execution - first_execution + 1;
    }
    return result;
  }
};

struct Run {
  std::int64_t step_id;
  std::int64_t first_task_id;
  std::int64_t last_task_id;
};

std::vector<Run> runs_of(const Database& db) {
  std::vector<Run> runs;
  Statement read = db.prepare(
      "SELECT step_id, first_task_id, last_task_id FROM task_run"
      " WHERE step_id IS NOT NULL ORDER BY id");
  while (read.step()) runs.push_back({read.integer(0), read.integer(1), read.integer(2)});
  return runs;
}

}  // namespace

// Folded here and not by GROUP BY: measured three times as fast, because the tasks of a run are
// neighbours and need no sorting.
void derive_step_time(TraceDbWriter& store) {
  std::map<std::int64_t, Fold> by_step;
  const Database& db = store.readable();
  Statement tasks = db.prepare(
      "SELECT execution, start_ns, duration_ns FROM task WHERE id BETWEEN ? AND ? ORDER BY id");
  for (const Run& run : runs_of(db)) {
    Fold& fold = by_step[run.step_id];
    fold.row.step_id = run.step_id;
    tasks.reset();
    tasks.bind(1, run.first_task_id).bind(2, run.last_task_id);
    while (tasks.step()) fold.add(tasks);
  }
  for (const auto& [step_id, fold] : by_step) store.add(fold.finished());
}

}  // namespace msprof
