// Summaries of many rows made at import: time ranges of id ranges, and bits per row. Derived; a
// capture without device tasks has none. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// Time range of consecutive rows of a table, used to find rows by time.
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

// Each row of a mark table has bits for kMarkedRows rows: bit i is for the row id * kMarkedRows +
// i. Rows with all bits 0 are omitted. (With 64 bits, one value would equal kNull.)
inline constexpr std::int64_t kMarkedRows = 32;

// Bits for the table task. Source: cann_device.md 23.3 (arrows), 14.5 (outer tasks).
struct TaskMarkRow {
  std::int64_t id = 0;
  std::int64_t arrow_ends = 0;       // an arrow from a call ends here
  std::int64_t last_arrow_ends = 0;  // the same, and that call has no later arrow end
  std::int64_t outer_tasks = 0;      // the task contains sub tasks

  static constexpr const char* kTable = "task_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "arrow_ends", "last_arrow_ends",
                                          "outer_tasks"};
};

// Bits for the table api_call.
struct CallMarkRow {
  std::int64_t id = 0;
  std::int64_t copies = 0;  // the call started a MEMCPY_ASYNC task

  static constexpr const char* kTable = "call_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "copies"};
};

// Calls by which an application executes a model and waits for its end.
struct ExecutionCallRow {
  std::int64_t call_id = 0;

  static constexpr const char* kTable = "execution_call";
  static constexpr std::array kColumns = {"call_id INTEGER PRIMARY KEY"};
};

// Bits for the table comm_op.
struct CommOpMarkRow {
  std::int64_t id = 0;
  std::int64_t last_arrow_ends = 0;

  static constexpr const char* kTable = "comm_op_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "last_arrow_ends"};
};

// Groups of comm_task and comm_op, ordered by device; empty without collectives.
struct CommGroupRow {
  std::int64_t id = 0;
  std::int64_t device_id = 0;
  std::int64_t group_name_id = kNull;
  std::int64_t largest_plane_id = kNull;  // of tasks with an hccl_info; null: no such task

  static constexpr const char* kTable = "comm_group";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "group_name_id",
                                          "largest_plane_id"};
};

}  // namespace msprof
