// Rows about the host: calls, named ranges, memory, models. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// An API call of the application on the host. CANN calls are in the order (start, level from high
// to low).
struct ApiCallRow {
  std::int64_t id = 0;
  std::int64_t model_row = kNull;
  std::int64_t process_id = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t type_name_id = kNull;  // "model", "runtime"; CANN: the "Mode" (struct type)
  std::int64_t name_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  // Only for CANN calls.
  std::int64_t level = kNull;         // one of call_level, or another number
  std::int64_t item_name_id = kNull;  // "item_id": operator name or model number

  static constexpr const char* kTable = "api_call";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "model_row",
                                          "process_id",
                                          "thread_id",
                                          "type_name_id",
                                          "name_id",
                                          "start_ns",
                                          "end_ns",
                                          "level",
                                          "item_name_id"};
};

// Details of a call, if recorded: calls of the runtime under CANN 5, and model executions.
struct CallDetailRow {
  std::int64_t api_id = 0;
  std::int64_t stream_id = kNull;
  std::int64_t size_bytes = kNull;
  std::int64_t direction = kNull;  // see MemcpyTaskRow
  std::int64_t result = kNull;     // return value
  std::int64_t request = kNull;    // execution number of a model

  static constexpr const char* kTable = "call_detail";
  static constexpr std::array kColumns = {
      "api_id INTEGER PRIMARY KEY", "stream_id", "size_bytes", "direction", "result", "request"};
};

// A range or mark defined by the application (msproftx).
struct UserRangeRow {
  std::int64_t id = 0;
  std::int64_t is_extended = 0;  // 1: has a mark id, also in device records
  std::int64_t process_id = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t category = kNull;
  std::int64_t event_type = kNull;  // 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
  std::int64_t payload_type = kNull;
  std::int64_t payload_value = kNull;  // all 64 bits
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  // As printed by the vendor's Python code, which uses doubles: differs by up to 0.15 us from
  // start_ns and end_ns (cann_host.md 1.7.2).
  std::int64_t vendor_start_ns = kNull;
  std::int64_t vendor_end_ns = kNull;
  std::int64_t message_type = kNull;
  std::int64_t message_name_id = kNull;
  std::int64_t domain_name_id = kNull;
  std::int64_t mark_id = kNull;
  std::int64_t start_count = kNull;  // raw host counter values
  std::int64_t end_count = kNull;

  static constexpr const char* kTable = "user_range";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "is_extended",
                                          "process_id",
                                          "thread_id",
                                          "category",
                                          "event_type",
                                          "payload_type",
                                          "payload_value",
                                          "start_ns",
                                          "end_ns",
                                          "vendor_start_ns",
                                          "vendor_end_ns",
                                          "message_type",
                                          "message_name_id",
                                          "domain_name_id",
                                          "mark_id",
                                          "start_count",
                                          "end_count"};
};

// Device-side record of a mark or range of the application (step trace tags 11 and 12).
struct DeviceMarkRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t mark_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  std::int64_t vendor_start_ns = kNull;
  std::int64_t vendor_end_ns = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t model_number = kNull;

  static constexpr const char* kTable = "device_mark";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "device_id",     "mark_id",   "start_ns",    "end_ns",
      "vendor_start_ns",        "vendor_end_ns", "stream_id", "task_number", "model_number"};
};

// An allocation or release of device memory by an operator (task_memory_info), in file order.
struct MemoryEventRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;  // from the record
  std::int64_t device_type = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t name_id = kNull;  // operator; null: unknown hash
  std::int64_t name_hash = kNull;
  std::int64_t address = kNull;
  std::int64_t size_bytes = 0;  // negative: released
  std::int64_t total_allocated_bytes = kNull;
  std::int64_t total_reserved_bytes = kNull;
  std::int64_t time_ns = kNull;
  std::int64_t vendor_time_ns = kNull;  // see UserRangeRow
  std::int64_t host_count = kNull;      // raw counter value

  static constexpr const char* kTable = "memory_event";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "device_type",
                                          "thread_id",
                                          "name_id",
                                          "name_hash",
                                          "address",
                                          "size_bytes",
                                          "total_allocated_bytes",
                                          "total_reserved_bytes",
                                          "time_ns",
                                          "vendor_time_ns",
                                          "host_count"};
};

// An allocation paired with its release; derived, in the order of the table operator_memory.
struct MemoryBlockRow {
  std::int64_t id = 0;
  std::int64_t allocation_id = kNull;  // memory_event.id
  std::int64_t release_id = kNull;     // null: never released
  std::int64_t duration_ns = kNull;    // computed from the counts, rounded to ns

  static constexpr const char* kTable = "memory_block";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "allocation_id", "release_id",
                                          "duration_ns"};
};

// A fused operator of a model (fusion_op_info). Sizes in bytes.
struct FusionOpRow {
  std::int64_t id = 0;
  std::int64_t model_number = kNull;
  std::int64_t model_name_id = kNull;  // null: no graph_id_map record
  std::int64_t name_id = kNull;
  std::int64_t original_names_name_id = kNull;  // joined by ';'
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t workspace_bytes = 0;
  std::int64_t total_bytes = 0;

  static constexpr const char* kTable = "fusion_op";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "model_number", "model_name_id", "name_id",
      "original_names_name_id", "input_bytes",  "output_bytes",  "weight_bytes",
      "workspace_bytes",        "total_bytes"};
};

// A step of the data pipeline that feeds the device (DATA_PREPROCESS.DP and .AICPUMI).
struct DataQueueRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t source_name_id = kNull;  // queue or node
  std::int64_t action_name_id = kNull;
  std::int64_t start_us = kNull;
  std::int64_t end_us = kNull;
  std::int64_t queue_index = kNull;
  std::int64_t queue_size = kNull;

  static constexpr const char* kTable = "data_queue";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "source_name_id",
                                          "action_name_id",
                                          "start_us",
                                          "end_us",
                                          "queue_index",
                                          "queue_size"};
};

}  // namespace msprof
