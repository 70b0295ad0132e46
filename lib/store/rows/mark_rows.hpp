// What is found out about many rows at once, at import: where in time stretches of ids lie, and
// bits of rows. Derived, and nothing else depends on them: a store without them is read whole. Part
// of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// The time of neighbouring rows of one table, by which a stretch of time is found.
struct TimeBlockRow {
  enum Table : std::int64_t { kTasks = 0, kCalls = 1 };

  std::int64_t id = 0;
  std::int64_t of_table = kTasks;
  std::int64_t first_row_id = 0;
  std::int64_t last_row_id = 0;
  std::int64_t first_start_ns = kNull;
  std::int64_t last_end_ns = kNull;

  static constexpr const char* kTable = "time_block";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "of_table",
                                          "first_row_id",           "last_row_id",
                                          "first_start_ns",         "last_end_ns"};
};

// Bits of rows, kMarkedRows of them a row: bit i is that of the row id * kMarkedRows + i. No row
// where all are 0. (64 would have a value that is kNull.)
inline constexpr std::int64_t kMarkedRows = 32;

// Of task. Source: cann_device.md 23.3 (arrows), 14.5 (outer tasks).
struct TaskMarkRow {
  std::int64_t id = 0;
  std::int64_t arrow_ends = 0;       // an arrow from a call ends here
  std::int64_t last_arrow_ends = 0;  // and no later end of that call follows
  std::int64_t outer_tasks = 0;      // the task around sub tasks

  static constexpr const char* kTable = "task_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "arrow_ends", "last_arrow_ends",
                                          "outer_tasks"};
};

// Of api_call.
struct CallMarkRow {
  std::int64_t id = 0;
  std::int64_t copies = 0;  // it started a MEMCPY_ASYNC task

  static constexpr const char* kTable = "call_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "copies"};
};

// The calls with which an application has a model executed and waits for its end.
struct ExecutionCallRow {
  std::int64_t call_id = 0;

  static constexpr const char* kTable = "execution_call";
  static constexpr std::array kColumns = {"call_id INTEGER PRIMARY KEY"};
};

// Of comm_op.
struct CommOpMarkRow {
  std::int64_t id = 0;
  std::int64_t last_arrow_ends = 0;

  static constexpr const char* kTable = "comm_op_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "last_arrow_ends"};
};

// Groups of comm_task and comm_op by device, in this order; without collectives no row.
struct CommGroupRow {
  std::int64_t id = 0;
  std::int64_t device_id = 0;
  std::int64_t group_name_id = kNull;
  std::int64_t largest_plane_id = kNull;  // of its tasks with an hccl_info; null: none

  static constexpr const char* kTable = "comm_group";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "group_name_id",
                                          "largest_plane_id"};
};

}  // namespace msprof
