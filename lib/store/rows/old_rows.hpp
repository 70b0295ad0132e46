// Rows that exist only in captures of CANN 5 and of 2019 to 2021. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// Record of an AI CPU driver about a finished task (text records of 2019 to 2021).
struct AicpuThreadRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t thread = kNull;
  std::int64_t aicpu_number = kNull;
  std::int64_t top_half_ticks = kNull;  // ticks of the device's counter
  std::int64_t bottom_half_ticks = kNull;
  std::int64_t before_run_ticks = kNull;
  std::int64_t after_run_ticks = kNull;
  std::int64_t dispatch_us = kNull;
  std::int64_t total_us = kNull;

  static constexpr const char* kTable = "aicpu_thread";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "thread",
                                          "aicpu_number",
                                          "top_half_ticks",
                                          "bottom_half_ticks",
                                          "before_run_ticks",
                                          "after_run_ticks",
                                          "dispatch_us",
                                          "total_us"};
};

// A task described by the graph engine: the operator that it runs, whether or not it ran.
struct OpTaskRow {
  std::int64_t id = 0;
  std::int64_t op_id = kNull;
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;  // null: an operator without a task
  std::int64_t task_number = kNull;
  std::int64_t batch = kNull;
  std::int64_t iteration = kNull;  // 0: every iteration
  std::int64_t model_number = kNull;

  static constexpr const char* kTable = "op_task";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "op_id",
                                          "device_id",
                                          "stream_id",
                                          "task_number",
                                          "batch",
                                          "iteration",
                                          "model_number"};
};

// A task launch recorded by the runtime of 2019 to 2020.
struct TaskLaunchRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t time_ns = kNull;
  std::int64_t event = kNull;
  std::int64_t task_type = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t kernel_name_id = kNull;
  std::int64_t is_persistent = kNull;

  static constexpr const char* kTable = "task_launch";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "time_ns",
                                          "event",
                                          "task_type",
                                          "stream_id",
                                          "task_number",
                                          "thread_id",
                                          "kernel_name_id",
                                          "is_persistent"};
};

}  // namespace msprof
