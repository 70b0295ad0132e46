// Rows about operators and their executions (tasks). Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// An operator: a layer of an svp model on one unit, or a distinct description of a CANN operator
// (equal descriptions share a row).
struct OpRow {
  std::int64_t id = 0;
  std::int64_t model_row = kNull;
  std::int64_t net_id = kNull;  // segment of the model
  std::int64_t layer_id = kNull;
  std::int64_t position = kNull;  // order within the model; null: after operators with a position
  std::int64_t name_id = kNull;
  std::int64_t original_name_id = kNull;  // the layers fused into it, joined by '+'
  std::int64_t type_name_id = kNull;
  std::int64_t unit_name_id = kNull;  // "AA_CORE", "AI_VECTOR_CORE"
  // Only for CANN operators; null is N/A.
  std::int64_t block_num = kNull;
  std::int64_t mix_block_num = kNull;
  std::int64_t is_dynamic = kNull;            // state: 0 static, 1 dynamic
  std::int64_t hf32_eligible = kNull;         // 0 or 1
  std::int64_t input_shapes_name_id = kNull;  // "8,1;128,4096", without quotes
  std::int64_t input_types_name_id = kNull;
  std::int64_t input_formats_name_id = kNull;
  std::int64_t output_shapes_name_id = kNull;
  std::int64_t output_types_name_id = kNull;
  std::int64_t output_formats_name_id = kNull;
  std::int64_t attribute_name_id = kNull;
  std::int64_t grid_dim_name_id = kNull;  // "1,2,3"
  std::int64_t block_dim_name_id = kNull;

  // Sets shapes, types and formats of the inputs, then of the outputs.
  void set_tensors(const std::array<std::int64_t, 6>& ids) {
    input_shapes_name_id = ids[0];
    input_types_name_id = ids[1];
    input_formats_name_id = ids[2];
    output_shapes_name_id = ids[3];
    output_types_name_id = ids[4];
    output_formats_name_id = ids[5];
  }

  static constexpr const char* kTable = "op";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "model_row",
                                          "net_id",
                                          "layer_id",
                                          "position",
                                          "name_id",
                                          "original_name_id",
                                          "type_name_id",
                                          "unit_name_id",
                                          "block_num",
                                          "mix_block_num",
                                          "is_dynamic",
                                          "hf32_eligible",
                                          "input_shapes_name_id",
                                          "input_types_name_id",
                                          "input_formats_name_id",
                                          "output_shapes_name_id",
                                          "output_types_name_id",
                                          "output_formats_name_id",
                                          "attribute_name_id",
                                          "grid_dim_name_id",
                                          "block_dim_name_id"};
};

// One execution on the device. CANN tasks are in the order (device, start, stream, task number,
// context), so that reading by id needs no sorting; device type and host type are separate columns.
struct TaskRow {
  std::int64_t id = 0;
  std::int64_t step_id = kNull;
  std::int64_t op_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t duration_ns = kNull;  // null: unknown frequency
  std::int64_t execution = kNull;    // execution of the model, from 0
  std::int64_t thread_id = kNull;    // only for CPU operators
  // Only for CANN tasks.
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;  // the runtime's task id: 16 bits with wraparound, or 32 bits
  std::int64_t batch = kNull;        // number of wraparounds of the task id
  std::int64_t context = kNull;      // sub task of an FFTS+ task; null: not a sub task
  std::int64_t host_type_name_id = kNull;    // "KERNEL_AIVEC"; null: no host record
  std::int64_t device_type_name_id = kNull;  // "AIV_SQE", "SDMA"; null: unknown number
  std::int64_t kernel_name_id = kNull;       // null: not recorded
  std::int64_t model_number = kNull;         // null: no model
  std::int64_t api_id = kNull;               // api_call that launched it

  static constexpr const char* kTable = "task";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step_id",
                                          "op_id",
                                          "start_ns",
                                          "duration_ns",
                                          "execution",
                                          "thread_id",
                                          "device_id",
                                          "stream_id",
                                          "task_number",
                                          "batch",
                                          "context",
                                          "host_type_name_id",
                                          "device_type_name_id",
                                          "kernel_name_id",
                                          "model_number",
                                          "api_id"};
};

// Tasks from one raw file (svp) or one device (CANN). Their ids are consecutive in `task`, so that
// a step or a device is read by id ranges without an index.
struct TaskRunRow {
  std::int64_t id = 0;
  std::int64_t step_id = kNull;
  std::int64_t first_task_id = 0;
  std::int64_t last_task_id = 0;
  std::int64_t device_id = kNull;

  static constexpr const char* kTable = "task_run";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "step_id", "first_task_id",
                                          "last_task_id", "device_id"};
};

// Waiting times of a task on a 310, as recorded by its scheduler.
struct TaskWaitRow {
  std::int64_t task_id = 0;
  std::int64_t waiting_ns = kNull;  // from waiting to running
  std::int64_t pending_ns = kNull;  // from pending to complete

  static constexpr const char* kTable = "task_wait";
  static constexpr std::array kColumns = {"task_id INTEGER PRIMARY KEY", "waiting_ns",
                                          "pending_ns"};
};

// Execution times of the blocks of a task on one core type (V6 chips).
struct TaskBlocksRow {
  std::int64_t id = 0;  // 2 * task_id + is_vector
  std::int64_t task_id = 0;
  std::int64_t is_vector = 0;
  std::int64_t block_count = 0;
  // The block that started first, and the one that started last.
  std::int64_t first_core = 0;
  std::int64_t first_start_ns = 0;
  std::int64_t first_end_ns = 0;
  std::int64_t last_core = 0;
  std::int64_t last_start_ns = 0;
  std::int64_t last_end_ns = 0;
  // Values over all blocks.
  std::int64_t earliest_end_ns = 0;
  std::int64_t latest_end_ns = 0;
  std::int64_t busy_ns = 0;  // sum of durations

  static constexpr const char* kTable = "task_blocks";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "task_id",       "is_vector", "block_count",   "first_core",
      "first_start_ns",         "first_end_ns",  "last_core", "last_start_ns", "last_end_ns",
      "earliest_end_ns",        "latest_end_ns", "busy_ns"};
};

// The copy made by a MEMCPY_ASYNC task.
struct MemcpyTaskRow {
  std::int64_t task_id = 0;
  std::int64_t size_bytes = 0;
  std::int64_t direction = 65535;  // 0 host to host, 1 host to device, … (cann_host.md 1.8)

  static constexpr const char* kTable = "memcpy_task";
  static constexpr std::array kColumns = {"task_id INTEGER PRIMARY KEY", "size_bytes", "direction"};
};

// Record of an AI CPU about a node it executed (aicpu.data, DATA_PREPROCESS.AICPU).
struct AicpuNodeRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  // As printed by the vendor's tool, which computes milliseconds in doubles (cann_device.md 8.6).
  std::int64_t vendor_start_ns = kNull;
  std::int64_t vendor_duration_ns = kNull;
  std::int64_t compute_us = kNull;
  std::int64_t memcpy_us = kNull;
  std::int64_t dispatch_us = kNull;
  std::int64_t total_ns = kNull;      // from submit to after_run
  std::int64_t op_name_id = kNull;    // filled by the association; null: N/A
  std::int64_t run_start_us = kNull;  // only in text records: the device's clock, unconverted
  std::int64_t run_end_us = kNull;

  static constexpr const char* kTable = "aicpu_node";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "stream_id",
                                          "task_number",
                                          "start_ns",
                                          "end_ns",
                                          "vendor_start_ns",
                                          "vendor_duration_ns",
                                          "compute_us",
                                          "memcpy_us",
                                          "dispatch_us",
                                          "total_ns",
                                          "op_name_id",
                                          "run_start_us",
                                          "run_end_us"};
};

}  // namespace msprof
