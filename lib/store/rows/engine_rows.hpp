// Rows about units of V6 chips other than cores: parts of fused tasks, CCU, data units, busy units
// of a core, page faults; and hardware queues of streams. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// The part of a fused task that ran on one engine.
struct FusionPartRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t engine = 0;  // bits: 1 CPU, 2 AICPU, 4 AICORE, 8 CCU of die 0, 16 CCU of die 1
  std::int64_t acc_id = 0;
  std::int64_t mission_id = 0;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;

  static constexpr const char* kTable = "fusion_part";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "stream_id",
                                          "task_number",
                                          "engine",
                                          "acc_id",
                                          "mission_id",
                                          "start_ns",
                                          "end_ns"};
};

// A loop group of a CCU, or a wait for other ranks. In record order.
struct CcuSpanRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t die = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t instruction_id = kNull;
  std::int64_t is_wait = 0;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;  // for a wait: end for the last rank; null: not known for any rank
  // Fields recorded by the host; null: not recorded.
  std::int64_t size_bytes = kNull;
  std::int64_t reduce_type = kNull;  // 0 SUM, 1 MUL, 2 MAX, 3 MIN; null: no reduction
  std::int64_t input_type = kNull;   // as comm_call.data_type
  std::int64_t output_type = kNull;
  std::int64_t mask = kNull;
  std::int64_t rank = kNull;           // the last rank
  std::int64_t channel = kNull;        // the used channel with the longest mean delay
  std::int64_t channel_delay = kNull;  // delay in ticks

  static constexpr const char* kTable = "ccu_span";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "die",
                                          "stream_id",
                                          "task_number",
                                          "instruction_id",
                                          "is_wait",
                                          "start_ns",
                                          "end_ns",
                                          "size_bytes",
                                          "reduce_type",
                                          "input_type",
                                          "output_type",
                                          "mask",
                                          "rank",
                                          "channel",
                                          "channel_delay"};
};

// Duration of a CCU wait for one rank.
struct CcuRankRow {
  std::int64_t id = 0;
  std::int64_t ccu_span_id = 0;
  std::int64_t rank = 0;
  std::int64_t duration_ns = 0;

  static constexpr const char* kTable = "ccu_rank";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "ccu_span_id", "rank",
                                          "duration_ns"};
};

// A sample of a CCU channel: the delay of 4096 bytes.
struct CcuChannelRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t die = kNull;
  std::int64_t channel = 0;
  std::int64_t time_ns = kNull;
  std::int64_t mean_delay_ps = 0;
  std::int64_t min_delay_ps = 0;
  std::int64_t max_delay_ps = 0;

  static constexpr const char* kTable = "ccu_channel";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "device_id",    "die",         "channel", "time_ns",
      "mean_delay_ps",          "min_delay_ps", "max_delay_ps"};
};

// A kernel of a data unit driven by the host.
struct DpuTaskRow {
  std::int64_t id = 0;
  std::int64_t dpu_id = kNull;
  std::int64_t thread_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t type_name_id = kNull;
  std::int64_t name_id = kNull;  // null: not in a task_track
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;

  static constexpr const char* kTable = "dpu_task";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "dpu_id",  "thread_id", "stream_id", "task_number",
      "type_name_id",           "name_id", "start_ns",  "end_ns"};
};

// Busy time of a core unit (BIU perf).
struct BiuSpanRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t core_name_id = kNull;  // "aic", "aiv0"
  std::int64_t core_group = kNull;
  std::int64_t unit = 0;  // 0 SU, 1 VEC, 2 CUBE, 3 MTE1, 4 MTE2, 5 MTE3, 6 FIXP
  std::int64_t block_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;

  static constexpr const char* kTable = "biu_span";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "device_id",
                                          "core_name_id",
                                          "core_group",
                                          "unit",
                                          "block_id",
                                          "start_ns",
                                          "end_ns"};
};

// Page faults of a task, in file order.
struct PageFaultRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t task_number = kNull;
  std::int64_t fault_count = 0;

  static constexpr const char* kTable = "page_fault";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "stream_id",
                                          "task_number", "fault_count"};
};

// Hardware queue of a stream during its lifetime (stream_sq_info).
struct StreamQueueRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t stream_id = kNull;  // low 16 bits
  std::int64_t queue_id = kNull;
  std::int64_t scheduler_id = kNull;
  std::int64_t start_ns = kNull;  // creation, or start of the collection
  std::int64_t end_ns = kNull;    // null: not destroyed

  static constexpr const char* kTable = "stream_queue";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "device_id", "stream_id", "queue_id",
      "scheduler_id",           "start_ns",  "end_ns"};
};

}  // namespace msprof
