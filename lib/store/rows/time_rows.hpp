// Rows with sums of task times, computed at import. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// Times of all executions of an operator; derived from the tasks.
struct OpTimeRow {
  std::int64_t op_id = 0;
  std::int64_t task_count = 0;  // tasks of known duration
  std::int64_t total_ns = 0;
  std::int64_t min_ns = kNull;  // null: no duration is known
  std::int64_t max_ns = kNull;

  static constexpr const char* kTable = "op_time";
  static constexpr std::array kColumns = {"op_id INTEGER PRIMARY KEY", "task_count", "total_ns",
                                          "min_ns", "max_ns"};
};

// Times of the tasks of a layer in one capture of a board; derived from the tasks. Sums are null if
// they overflow.
struct LayerTimeRow {
  std::int64_t id = 0;
  std::int64_t step_id = 0;
  std::int64_t op_id = 0;
  std::int64_t task_count = 0;
  std::int64_t execution_count = kNull;  // executions with a task; null: tasks out of execution
                                         // order
  std::int64_t first_start_ns = kNull;
  std::int64_t total_ns = kNull;  // this and the next two: null if a task has no duration
  std::int64_t min_ns = kNull;
  std::int64_t max_ns = kNull;
  // Sums of the first kCounters counters of task_pmu; null if a task has no value.
  static constexpr std::size_t kCounters = 16;
  std::int64_t c[kCounters] = {kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
                               kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull};

  static constexpr const char* kTable = "layer_time";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step_id",
                                          "op_id",
                                          "task_count",
                                          "execution_count",
                                          "first_start_ns",
                                          "total_ns",
                                          "min_ns",
                                          "max_ns",
                                          "c0",
                                          "c1",
                                          "c2",
                                          "c3",
                                          "c4",
                                          "c5",
                                          "c6",
                                          "c7",
                                          "c8",
                                          "c9",
                                          "c10",
                                          "c11",
                                          "c12",
                                          "c13",
                                          "c14",
                                          "c15"};
};

// One execution of a model in one capture of a board; derived from its tasks. In the order of
// captures and execution numbers.
struct ExecutionTimeRow {
  std::int64_t id = 0;
  std::int64_t step_id = 0;
  std::int64_t execution = 0;
  std::int64_t task_count = 0;
  std::int64_t start_ns = kNull;
  std::int64_t busy_ns = 0;  // sum of durations
  // Only tasks with a duration are included.
  std::int64_t timed_start_ns = kNull;
  std::int64_t timed_last_start_ns = kNull;
  std::int64_t end_ns = kNull;

  static constexpr const char* kTable = "execution_time";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step_id",
                                          "execution",
                                          "task_count",
                                          "start_ns",
                                          "busy_ns",
                                          "timed_start_ns",
                                          "timed_last_start_ns",
                                          "end_ns"};
};

// Start order of the tasks of a run of a board; derived from the tasks that have a duration.
struct TaskRunTimeRow {
  std::int64_t run_id = 0;
  std::int64_t timed_count = 0;
  std::int64_t first_start_ns = kNull;
  std::int64_t last_start_ns = kNull;
  // Largest time by which a task starts before one with a smaller id. INT64_MAX if too many
  // consecutive tasks have the same start to show an order.
  std::int64_t disorder_ns = 0;

  static constexpr const char* kTable = "task_run_time";
  static constexpr std::array kColumns = {"run_id INTEGER PRIMARY KEY", "timed_count",
                                          "first_start_ns", "last_start_ns", "disorder_ns"};
};

}  // namespace msprof
