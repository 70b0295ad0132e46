// Rows about collective communication. Part of store/schema.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "store/cells.hpp"

namespace msprof {

// Host-side data of one task of a collective: its hccl_info, and its position.
struct CommCallRow {
  std::int64_t id = 0;
  std::int64_t host_count = 0;      // launch time of the task (task_track)
  std::int64_t api_id = kNull;      // api_call of the collective (node level)
  std::int64_t op_begin_count = 0;  // start of that call
  std::int64_t thread_id = kNull;
  std::int64_t op_name_id = kNull;       // item of that call: "hcom_allReduce__101_1_1"
  std::int64_t op_type_name_id = kNull;  // type of that call: "hcom_allReduce_"
  std::int64_t is_master = 0;
  // From hccl_info; null if the call has none.
  std::int64_t item_name_id = kNull;  // "Notify_Wait"
  std::int64_t group_hash = kNull;    // from hccl_info, else from hccl_op_info
  std::int64_t group_name_id = kNull;
  std::int64_t plane_id = kNull;
  std::int64_t local_rank = kNull;
  std::int64_t remote_rank = kNull;
  std::int64_t rank_size = kNull;
  std::int64_t notify_id = kNull;  // all 64 bits, as a signed integer
  std::int64_t duration_estimated_ps = kNull;
  std::int64_t size_bytes = kNull;
  std::int64_t data_type = kNull;
  std::int64_t link_type = kNull;
  std::int64_t transport_type = kNull;
  std::int64_t rdma_type = kNull;
  // From the call's first hccl_op_info; null if it has none.
  std::int64_t op_group_name_id = kNull;
  std::int64_t op_relay = kNull;
  std::int64_t op_retry = kNull;
  std::int64_t op_data_type = kNull;
  std::int64_t op_algorithm_name_id = kNull;
  std::int64_t op_count = kNull;
  // "op type" text of the call's first node_basic_info; null if it has none.
  std::int64_t op_kind_name_id = kNull;

  static constexpr const char* kTable = "comm_call";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "host_count",
                                          "api_id",
                                          "op_begin_count",
                                          "thread_id",
                                          "op_name_id",
                                          "op_type_name_id",
                                          "is_master",
                                          "item_name_id",
                                          "group_hash",
                                          "group_name_id",
                                          "plane_id",
                                          "local_rank",
                                          "remote_rank",
                                          "rank_size",
                                          "notify_id",
                                          "duration_estimated_ps",
                                          "size_bytes",
                                          "data_type",
                                          "link_type",
                                          "transport_type",
                                          "rdma_type",
                                          "op_group_name_id",
                                          "op_relay",
                                          "op_retry",
                                          "op_data_type",
                                          "op_algorithm_name_id",
                                          "op_count",
                                          "op_kind_name_id"};
};

// Maps device tasks to calls; one row per task of a collective.
struct CommTaskRow {
  std::int64_t task_id = 0;
  std::int64_t comm_call_id = 0;

  static constexpr const char* kTable = "comm_task";
  static constexpr std::array kColumns = {"task_id INTEGER PRIMARY KEY", "comm_call_id"};
};

// A collective on one device, derived from its tasks; in the order (device, start, id).
struct CommOpRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t name_id = kNull;  // "hcom_allReduce__101_1_1_026_0_1" (cann_device.md 18.1)
  std::int64_t group_name_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t end_ns = kNull;
  std::int64_t model_number = kNull;
  std::int64_t rank_size = kNull;
  std::int64_t first_comm_call_id = kNull;  // has api, type, algorithm, count

  static constexpr const char* kTable = "comm_op";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "device_id", "name_id",
      "group_name_id",          "start_ns",  "end_ns",
      "model_number",           "rank_size", "first_comm_call_id"};
};

// Tasks of a collective, if the collective has a master task.
struct CommOpTaskRow {
  std::int64_t task_id = 0;
  std::int64_t comm_op_id = 0;

  static constexpr const char* kTable = "comm_op_task";
  static constexpr std::array kColumns = {"task_id INTEGER PRIMARY KEY", "comm_op_id"};
};

// Calls of one kind of collective on one device, as counted by communication_statistic: the
// duration is the latest end minus the earliest start of the master tasks.
struct CommSpanRow {
  std::int64_t id = 0;
  std::int64_t device_id = kNull;
  std::int64_t op_type_name_id = kNull;
  std::int64_t start_ns = kNull;
  std::int64_t duration_ns = kNull;

  static constexpr const char* kTable = "comm_span";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "device_id", "op_type_name_id",
                                          "start_ns", "duration_ns"};
};

// Streams on which AI CPU kernels run a collective (mc2_comm_info).
struct KfcStreamRow {
  std::int64_t id = 0;
  std::int64_t group_name_id = kNull;
  std::int64_t rank_size = kNull;
  std::int64_t rank_id = kNull;
  std::int64_t stream_id = kNull;
  std::int64_t is_comm_stream = 0;  // 1: the stream is one of commStreamIds

  static constexpr const char* kTable = "kfc_stream";
  static constexpr std::array kColumns = {
      "id INTEGER PRIMARY KEY", "group_name_id", "rank_size", "rank_id", "stream_id",
      "is_comm_stream"};
};

}  // namespace msprof
