#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

namespace {

// The executions of a step, by number.
class Executions {
 public:
  void add(const TaskRow& task) {
    ExecutionTimeRow& row = find_or_add_row(task.execution);
    ++row.task_count;
    const auto duration = given(task.duration_ns);
    if (duration) row.busy_ns = saturating_add(row.busy_ns, *duration);
    const auto start = given(task.start_ns);
    if (!start) return;
    row.start_ns = row.start_ns == kNull ? *start : std::min(row.start_ns, *start);
    if (!duration) return;
    const bool is_first = row.timed_start_ns == kNull;
    row.timed_start_ns = is_first ? *start : std::min(row.timed_start_ns, *start);
    row.timed_last_start_ns = std::max(row.timed_last_start_ns, *start);
    row.end_ns = std::max(row.end_ns, saturating_add(*start, *duration));
  }

  // Visits executions in order of number.
  template <typename Visit>
  void for_each(Visit visit) const {
    auto late = late_.begin();
    for (const ExecutionTimeRow& row : rows_) {
      for (; late != late_.end() && late->first < row.execution; ++late) visit(late->second);
      visit(row);
    }
    for (; late != late_.end(); ++late) visit(late->second);
  }

 private:
  // Fast in the usual case: tasks of one execution are adjacent and numbers ascend.
  ExecutionTimeRow& find_or_add_row(std::int64_t execution) {
    if (!rows_.empty() && rows_[last_].execution == execution) return rows_[last_];
    if (rows_.empty() || execution > rows_.back().execution) {
      last_ = rows_.size();
      rows_.emplace_back().execution = execution;
      return rows_.back();
    }
    const auto at = std::lower_bound(
        rows_.begin(), rows_.end(), execution,
        [](const ExecutionTimeRow& row, std::int64_t number) { return row.execution < number; });
    if (at->execution == execution) {
      last_ = static_cast<std::size_t>(at - rows_.begin());
      return *at;
    }
    ExecutionTimeRow& row = late_[execution];
    row.execution = execution;
    return row;
  }

  std::vector<ExecutionTimeRow> rows_;  // sorted by number
  std::size_t last_ = 0;
  std::map<std::int64_t, ExecutionTimeRow> late_;  // executions added after one with a larger
                                                   // number
};

// Makes the sum null if a value is missing, because a sum over only some tasks would be misleading,
// and if it overflows.
void add_to(std::int64_t& sum, std::int64_t value, std::int64_t count) {
  if (count == 1) {
    sum = value;
  } else if (sum == kNull || value == kNull || __builtin_add_overflow(sum, value, &sum)) {
    sum = kNull;
  }
}

// The tasks of one operator of a step.
struct StepLayer {
  LayerTimeRow row;
  std::int64_t last_execution = -1;
  bool is_in_order = true;  // execution numbers ascend: each change is a new execution

  // `counters` has `counter_count` cells. Imported counters are never negative, so a negative cell
  // is kNull.
  void add(const TaskRow& task, const std::int64_t* counters, std::size_t counter_count) {
    const std::int64_t count = ++row.task_count;
    const std::int64_t execution = given(task.execution).value_or(0);
    is_in_order = is_in_order && execution >= last_execution;
    if (execution > last_execution) {
      row.execution_count = std::max<std::int64_t>(row.execution_count, 0) + 1;
      last_execution = execution;
    }
    if (const auto start = given(task.start_ns)) {
      row.first_start_ns =
          row.first_start_ns == kNull ? *start : std::min(row.first_start_ns, *start);
    }
    const std::int64_t duration = task.duration_ns;
    if (count == 1) {
      row.min_ns = row.max_ns = duration;
    } else if (duration == kNull || row.min_ns == kNull) {
      row.min_ns = row.max_ns = kNull;
    } else {
      row.min_ns = std::min(row.min_ns, duration);
      row.max_ns = std::max(row.max_ns, duration);
    }
    add_to(row.total_ns, duration, count);
    for (std::size_t i = 0; i < counter_count; ++i) {
      const std::int64_t value = counters[i];
      if (count == 1) {
        row.c[i] = value < 0 ? kNull : value;
      } else if ((row.c[i] | value) < 0 || __builtin_add_overflow(row.c[i], value, &row.c[i])) {
        row.c[i] = kNull;
      }
    }
  }
};

struct Step {
  StepTimeRow row;
  std::int64_t first_execution = INT64_MAX;
  std::int64_t last_execution = -1;
  Executions executions;
  std::map<std::int64_t, StepLayer> layers;  // by operator

  void add(const TaskRow& task) {
    ++row.task_count;
    if (task.execution != kNull) {
      executions.add(task);
      first_execution = std::min(first_execution, task.execution);
      last_execution = std::max(last_execution, task.execution);
    }
    const auto start = given(task.start_ns);
    const auto duration = given(task.duration_ns);
    if (start) {
      row.first_start_ns =
          row.first_start_ns == kNull ? *start : std::min(row.first_start_ns, *start);
    }
    if (start && duration)
      row.last_end_ns = std::max(row.last_end_ns, saturating_add(*start, *duration));
    if (!duration) return;
    // Saturates: a sum of untrusted durations can overflow.
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

// Finds the layers of a step by operator: faster than the map, because most tasks belong to the
// step of the operator's last task.
class LayerFinder {
 public:
  StepLayer& find(Step& step, std::int64_t op_id) {
    const auto op = static_cast<std::size_t>(std::max<std::int64_t>(op_id, 0));
    if (op >= last_.size()) last_.resize(op + 1);
    auto& [last_step, layer] = last_[op];
    if (last_step != &step) {
      last_step = &step;
      layer = &step.layers[static_cast<std::int64_t>(op)];
    }
    return *layer;
  }

 private:
  std::vector<std::pair<const Step*, StepLayer*>> last_;  // by operator
};

struct StepRun {
  std::int64_t id;
  std::int64_t step_id;
  std::int64_t first_task_id;
  std::int64_t last_task_id;
};

std::vector<StepRun> read_runs(const Database& db) {
  std::vector<StepRun> runs;
  Statement read = db.prepare(
      "SELECT id, step_id, first_task_id, last_task_id FROM task_run"
      " WHERE step_id IS NOT NULL ORDER BY id");
  while (read.step())
    runs.push_back({read.integer(0), read.integer(1), read.integer(2), read.integer(3)});
  return runs;
}

// The counters of the tasks of a run. Call find() in ascending order of task ids.
class Counters {
 public:
  Counters(const Database& db, std::size_t count, const StepRun& run)
      : rows_(db, TaskPmuRow::kTable, TaskPmuRow::kColumns, places(count), range(run)),
        none_(count, kNull) {
    cells_.fill(kNull);
    has_row_ = count > 0 && rows_.next(cells_.data());
  }

  // Returns the cells of the task's counters; all kNull if it has none.
  const std::int64_t* find(std::int64_t task_id) {
    while (has_row_ && cells_[0] < task_id) has_row_ = rows_.next(cells_.data());
    return has_row_ && cells_[0] == task_id ? &cells_[1] : none_.data();
  }

 private:
  static std::vector<std::size_t> places(std::size_t count) {
    std::vector<std::size_t> all(count + 1);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  static RowFilter range(const StepRun& run) {
    RowFilter filter;
    filter.first_id = run.first_task_id;
    filter.last_id = run.last_task_id;
    return filter;
  }

  CellReader rows_;
  std::array<std::int64_t, kPmuColumns + 1> cells_{};
  std::vector<std::int64_t> none_;
  bool has_row_ = false;
};

std::size_t counter_count(const Database& db) {
  Statement read = db.prepare("SELECT max(column_number) + 1 FROM pmu_column");
  const std::int64_t count = read.step() ? read.maybe_integer(0).value_or(0) : 0;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, LayerTimeRow::kCounters));
}

// Measures how far the starts of a run's tasks are out of order.
class Order {
 public:
  explicit Order(std::int64_t run_id) { row_.run_id = run_id; }
  void add(const TaskRow& task) {
    if (task.start_ns == kNull || task.duration_ns == kNull) return;
    if (row_.timed_count++ == 0) row_.first_start_ns = row_.last_start_ns = task.start_ns;
    alike_ = task.start_ns == row_.last_start_ns ? alike_ + 1 : 0;
    row_.first_start_ns = std::min(row_.first_start_ns, task.start_ns);
    row_.last_start_ns = std::max(row_.last_start_ns, task.start_ns);
    row_.disorder_ns =
        std::max(row_.disorder_ns, saturating_subtract(row_.last_start_ns, task.start_ns));
    if (alike_ > kMaxAlike) row_.disorder_ns = INT64_MAX;
  }
  const TaskRunTimeRow& row() const { return row_; }

 private:
  // If more consecutive tasks than this have equal starts, the order is unknown.
  static constexpr std::int64_t kMaxAlike = 1 << 16;
  TaskRunTimeRow row_;
  std::int64_t alike_ = 0;
};

void write(TraceDbWriter& store, const std::map<std::int64_t, Step>& by_step) {
  std::vector<std::int64_t> execution_times;
  std::int64_t execution_id = 0;
  std::int64_t layer_id = 0;
  for (const auto& [step_id, step] : by_step) {
    store.add(step.finished());
    step.executions.for_each([&, id = step_id](ExecutionTimeRow row) {
      row.id = ++execution_id;
      row.step_id = id;
      store.add(row);
      execution_times.push_back(row.busy_ns);
    });
    for (const auto& [op_id, layer] : step.layers) {
      LayerTimeRow row = layer.row;
      row.id = ++layer_id;
      row.step_id = step_id;
      row.op_id = op_id;
      if (!layer.is_in_order) row.execution_count = kNull;
      store.add(row);
    }
  }
  if (!execution_times.empty()) write_execution_times(store, std::move(execution_times));
}

}  // namespace

// Aggregated here instead of with GROUP BY: measured three times as fast, because the tasks of a
// run are adjacent and need no sorting. One pass computes all sums.
void derive_step_time(TraceDbWriter& store, OpTimes& op_times) {
  std::map<std::int64_t, Step> by_step;
  LayerFinder layers;
  const Database& db = store.readable();
  const std::size_t counters_of_session = counter_count(db);
  for (const StepRun& run : read_runs(db)) {
    Step& step = by_step[run.step_id];
    step.row.step_id = run.step_id;
    Order order(run.id);
    Counters counters(db, counters_of_session, run);
    RowCursor<TaskRow> tasks(db,
                             {&TaskRow::id, &TaskRow::op_id, &TaskRow::execution,
                              &TaskRow::start_ns, &TaskRow::duration_ns},
                             {.first_id = run.first_task_id, .last_id = run.last_task_id});
    while (tasks.next()) {
      step.add(*tasks);
      layers.find(step, tasks->op_id).add(*tasks, counters.find(tasks->id), counters_of_session);
      op_times.add(*tasks);
      order.add(*tasks);
    }
    op_times.skip(run.first_task_id, run.last_task_id);
    store.add(order.row());
  }
  write(store, by_step);
  store.add_index(kLayerTimeOfStep);
}

}  // namespace msprof
