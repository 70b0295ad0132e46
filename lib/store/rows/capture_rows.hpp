// Rows about the capture as a whole: devices, models, steps, counters. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

struct DeviceRow {
  std::int64_t id = 0;                // device number, as in file names
  std::int64_t chip_name_id = kNull;  // "V200", "Ascend910B"; null: unknown
  std::int64_t frequency_hz = kNull;  // frequency of the compute cores; null: unknown
  std::int64_t core_count = kNull;
  std::int64_t vector_core_count = kNull;
  std::int64_t vector_frequency_hz = kNull;
  std::int64_t platform = kNull;  // platform_version of CANN
  // PMU mode: 1 task-based, 0 sample-based, null unknown.
  std::int64_t is_task_based = kNull;
  std::int64_t core_metrics_name_id = kNull;  // "PipeUtilizationExct"
  std::int64_t vector_core_metrics_name_id = kNull;
  std::int64_t tick_frequency_hz = kNull;  // frequency of the counter that timestamps its records

  static constexpr const char* kTable = "device";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "chip_name_id",
                                          "frequency_hz",
                                          "core_count",
                                          "vector_core_count",
                                          "vector_frequency_hz",
                                          "platform",
                                          "is_task_based",
                                          "core_metrics_name_id",
                                          "vector_core_metrics_name_id",
                                          "tick_frequency_hz"};
};

struct ModelRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t model_id = kNull;  // number assigned by the runtime
  std::int64_t name_id = kNull;
  std::int64_t batch_num = kNull;  // images per execution

  static constexpr const char* kTable = "model";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "model_id",
                                          "name_id", "batch_num"};
};

// Executions whose records belong together (in an svp capture).
struct StepRow {
  std::int64_t id = 0;
  std::int64_t model_row = kNull;  // model.id
  std::int64_t number = 0;         // number within the model, from 0
  std::int64_t batch_num = kNull;
  std::int64_t input_pic_num = kNull;      // images in this step
  std::int64_t current_pic_count = kNull;  // images before this step
  std::int64_t icache_hit = kNull;
  std::int64_t icache_miss = kNull;

  static constexpr const char* kTable = "step";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "model_row",         "number",     "batch_num",
      "input_pic_num",          "current_pic_count", "icache_hit", "icache_miss"};
};

// Start and duration of a step; derived from its tasks.
struct StepTimeRow {
  std::int64_t step_id = 0;
  std::int64_t task_count = 0;
  std::int64_t execution_count = kNull;  // counted from the first to the last execution with a task
  std::int64_t first_start_ns = kNull;
  std::int64_t last_end_ns = kNull;  // null: no duration is known
  std::int64_t busy_ns = kNull;      // sum of durations

  static constexpr const char* kTable = "step_time";
  static constexpr std::array kColumns = {"step_id INTEGER PRIMARY KEY",
                                          "task_count",
                                          "execution_count",
                                          "first_start_ns",
                                          "last_end_ns",
                                          "busy_ns"};
};

// A step trace record of a CANN device, in file order; iterations are derived from these.
struct StepMarkRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t index_id = kNull;
  std::int64_t model_number = kNull;
  std::int64_t ticks = kNull;  // ticks of the device's counter
  std::int64_t time_ns = kNull;
  std::int64_t tag = kNull;  // cann_device.md 3.2
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;

  static constexpr const char* kTable = "step_mark";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "index_id",
                                          "model_number",
                                          "ticks",
                                          "time_ns",
                                          "tag",
                                          "stream_id",
                                          "task_number"};
};

// An iteration of a CANN model, derived from step marks; in the order of the table step_trace.
// Durations are computed from tick differences.
struct IterationRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t model_number = kNull;
  std::int64_t number = kNull;  // "Iteration ID"
  std::int64_t start_ns = kNull;
  std::int64_t fp_start_ns = kNull;  // null: no mark
  std::int64_t bp_end_ns = kNull;
  std::int64_t end_ns = kNull;
  std::int64_t duration_ns = kNull;
  std::int64_t fp_bp_ns = kNull;
  std::int64_t refresh_ns = kNull;
  std::int64_t data_aug_ns = kNull;
  std::int64_t is_framework_step = 0;  // 1: from a pair of tags 60000/60001; number is its index_id

  static constexpr const char* kTable = "iteration";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "model_number",
                                          "number",
                                          "start_ns",
                                          "fp_start_ns",
                                          "bp_end_ns",
                                          "end_ns",
                                          "duration_ns",
                                          "fp_bp_ns",
                                          "refresh_ns",
                                          "data_aug_ns",
                                          "is_framework_step"};
};

// An all-reduce or a GetNext within an iteration.
struct IterationPartRow {
  std::int64_t id = 0;
  std::int64_t iteration_id = kNull;
  std::int64_t is_get_next = 0;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  // Only in captures of 2019 to 2021.
  std::int64_t stream_id = kNull;
  std::int64_t number = kNull;        // index within its stream and iteration, from 0
  std::int64_t type_name_id = kNull;  // "AllReduce"

  static constexpr const char* kTable = "iteration_part";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "iteration_id",
                                          "is_get_next",
                                          "start_ns",
                                          "end_ns",
                                          "stream_id",
                                          "number",
                                          "type_name_id"};
};

// A counter of a device or of the host over time: bandwidth of a channel, CPU usage, frequency. The
// displayed value is the sample's `value / divisor`; rates are also divided by the sample's
// interval in seconds.
struct TrackRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;        // null: the host
  std::int64_t kind_name_id = kNull;     // kind of raw file, as in table names: "hbm"
  std::int64_t subject_name_id = kNull;  // what is counted: "HBM 0", "Port 1", "CPU 3"
  std::int64_t number = kNull;  // number of the subject: channel, port, core, module, process
  std::int64_t part = kNull;    // second number: e.g. the engine of a type
  std::int64_t detail_name_id = kNull;  // second text: e.g. the module of a function
  std::int64_t name_id = kNull;         // name of the counter: "Read", "AI Core Freq"
  std::int64_t unit_name_id = kNull;    // "MB/s", "MHz"
  std::int64_t divisor = 1;
  std::int64_t is_rate = 0;
  std::int64_t first_sample_id = kNull;  // range of ids that includes all its samples, and others
  std::int64_t last_sample_id = kNull;

  static constexpr const char* kTable = "track";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "kind_name_id",
                                          "subject_name_id",
                                          "number",
                                          "part",
                                          "detail_name_id",
                                          "name_id",
                                          "unit_name_id",
                                          "divisor",
                                          "is_rate",
                                          "first_sample_id",
                                          "last_sample_id"};
};

// A sample of a track. begin_ns is set if it covers an interval.
struct CounterRow {
  std::int64_t id = 0;
  std::int64_t track_id = 0;
  std::int64_t begin_ns = kNull;
  std::int64_t time_ns = kNull;
  std::int64_t value = kNull;

  static constexpr const char* kTable = "counter";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "track_id", "begin_ns",
                                          "time_ns", "value"};
};

// Activity of a device's cores over a time span; derived. Spans of the same kind neither overlap
// nor touch.
struct OverlapRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t kind = 0;  // 0 computing, 1 communication, 2 communication not overlapped, 3 free
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;

  static constexpr const char* kTable = "overlap";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "kind", "start_ns",
                                          "end_ns"};
};

// Maps a stream to its logical stream (logic_stream_info).
struct LogicStreamRow {
  std::int64_t stream_id = 0;
  std::int64_t logic_stream_id = kNull;

  static constexpr const char* kTable = "logic_stream";
  static constexpr std::array kColumns = {"stream_id INTEGER PRIMARY KEY", "logic_stream_id"};
};

}  // namespace msprof
