// The common tables of the store: what every raw kind ends in and every export reads.
// Declared once, here: a row is a struct of integers in the order of its columns; texts are ids
// into the table `name`. kNull is a cell without a value. Times are nanoseconds of the capture's
// clock.
#pragma once

#include <array>
#include <cstdint>

#include "store/bulk_insert.hpp"

namespace msprof {

// Raised whenever a table changes; a store of another version is imported again.
inline constexpr int kSchemaVersion = 1;

// One NPU of the capture.
struct DeviceRow {
  std::int64_t id = 0;                // device number, as in file names
  std::int64_t chip_name_id = kNull;  // "V200", where known
  std::int64_t frequency_hz = kNull;  // of the compute cores, where known

  static constexpr const char* kTable = "device";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "chip_name_id", "frequency_hz"};
};

// One loaded model.
struct ModelRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t model_id = kNull;  // the runtime's number
  std::int64_t name_id = kNull;
  std::int64_t batch_num = kNull;  // pictures of one execution

  static constexpr const char* kTable = "model";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "model_id",
                                          "name_id", "batch_num"};
};

// One iteration: executions whose records belong together (an svp capture).
struct StepRow {
  std::int64_t id = 0;
  std::int64_t model_row = kNull;  // model.id
  std::int64_t number = 0;         // from 0 within the model
  std::int64_t batch_num = kNull;
  std::int64_t input_pic_num = kNull;      // pictures of one execution
  std::int64_t current_pic_count = kNull;  // pictures before this step
  std::int64_t icache_hit = kNull;
  std::int64_t icache_miss = kNull;

  static constexpr const char* kTable = "step";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "model_row",         "number",     "batch_num",
      "input_pic_num",          "current_pic_count", "icache_hit", "icache_miss"};
};

// One operator (layer) of a model on one unit.
struct OpRow {
  std::int64_t id = 0;
  std::int64_t model_row = kNull;
  std::int64_t net_id = kNull;  // segment of the model
  std::int64_t layer_id = kNull;
  std::int64_t position = kNull;  // order within the model; null: after those that have one
  std::int64_t name_id = kNull;
  std::int64_t original_name_id = kNull;  // the layers that were fused into it, joined by '+'
  std::int64_t type_name_id = kNull;
  std::int64_t unit_name_id = kNull;  // "AA_CORE", "AA_CPU"

  static constexpr const char* kTable = "op";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "model_row",    "net_id",      "layer_id", "position", "name_id",
      "original_name_id",       "type_name_id", "unit_name_id"};
};

// One execution of an operator on the device.
struct TaskRow {
  std::int64_t id = 0;
  std::int64_t step_id = kNull;
  std::int64_t op_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t duration_ns = kNull;  // null where the frequency is unknown
  std::int64_t execution = kNull;    // of the model, from 0
  std::int64_t thread_id = kNull;    // of a CPU operator

  static constexpr const char* kTable = "task";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step_id",
                                          "op_id",
                                          "start_ns",
                                          "duration_ns",
                                          "execution",
                                          "thread_id"};
};

// Tasks that came from one raw file: they are neighbours in `task`, so a step is read by ranges of
// ids and needs no index.
struct TaskRunRow {
  std::int64_t id = 0;
  std::int64_t step_id = kNull;
  std::int64_t first_task_id = 0;
  std::int64_t last_task_id = 0;

  static constexpr const char* kTable = "task_run";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "step_id", "first_task_id",
                                          "last_task_id"};
};

// When and how long a step ran; derived from its tasks.
struct StepTimeRow {
  std::int64_t step_id = 0;
  std::int64_t task_count = 0;
  std::int64_t execution_count = kNull;  // from the first to the last execution with a task
  std::int64_t first_start_ns = kNull;
  std::int64_t last_end_ns = kNull;  // null where no duration is known
  std::int64_t busy_ns = kNull;      // durations added up

  static constexpr const char* kTable = "step_time";
  static constexpr std::array kColumns = {"step_id INTEGER PRIMARY KEY",
                                          "task_count",
                                          "execution_count",
                                          "first_start_ns",
                                          "last_end_ns",
                                          "busy_ns"};
};

// The counters of a task, one wide row; `pmu_column` says which counter is in which column.
inline constexpr std::size_t kPmuColumns = 12;
struct TaskPmuRow {
  std::int64_t task_id = 0;
  std::int64_t c[kPmuColumns] = {kNull, kNull, kNull, kNull, kNull, kNull,
                                 kNull, kNull, kNull, kNull, kNull, kNull};

  static constexpr const char* kTable = "task_pmu";
  static constexpr std::array kColumns = {"task_id INTEGER PRIMARY KEY",
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
                                          "c11"};
};

struct PmuColumnRow {
  std::int64_t column_number = 0;
  std::int64_t counter_name_id = kNull;  // "total_cycles", "ddr_read_bytes"

  static constexpr const char* kTable = "pmu_column";
  static constexpr std::array kColumns = {"column_number INTEGER PRIMARY KEY", "counter_name_id"};
};

// One call of the application's interface on the host.
struct ApiCallRow {
  std::int64_t id = 0;
  std::int64_t model_row = kNull;
  std::int64_t process_id = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t type_name_id = kNull;  // "model", "runtime"
  std::int64_t name_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;

  static constexpr const char* kTable = "api_call";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "model_row", "process_id", "thread_id",
      "type_name_id",           "name_id",   "start_ns",   "end_ns"};
};

}  // namespace msprof
