// Row types of a rank summary (part) of one rank, a node or a whole cluster. All values are
// integers; texts are ids in the table `name`, which is sorted by text, so that ids compare like
// their texts. Times are wall-clock ns of the rank's host, as recorded. Each table is sorted by its
// key, which is the columns from `step` to the first value; kNull sorts first.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "cluster/total_rows.hpp"
#include "store/cells.hpp"

namespace msprof::cluster {

// A rank: one device of one capture. Sorted by (rank, host, device, capture); captures without a
// rank come last.
struct MemberRow {
  std::int64_t id = 0;
  std::int64_t rank = kNull;
  std::int64_t host_name_id = kNull;      // the host's unique id; its name if it has no id
  std::int64_t hostname_name_id = kNull;  // the host name that users know
  std::int64_t device_id = kNull;
  std::int64_t capture_name_id = kNull;  // "PROF_000001_20231114…", without the parent folder
  std::int64_t chip_name_id = kNull;
  std::int64_t verdict = 0;  // 0 complete, 1 something was not recorded, 2 partial
  std::int64_t verdict_text_name_id = kNull;
  std::int64_t is_modelled = 0;   // 1: unit loads are computed by the host runtime's model
  std::int64_t begin_ns = kNull;  // start of the collection
  std::int64_t end_ns = kNull;
  std::int64_t host_frequency_hz = kNull;  // frequency of the clock that timestamps host records
  std::int64_t tick_frequency_hz = kNull;
  std::int64_t task_count = 0;
  std::int64_t min_frequency_mhz = kNull;  // frequency range of the compute cores
  std::int64_t max_frequency_mhz = kNull;
  std::int64_t memory_peak_bytes = kNull;  // peak use of device memory

  static constexpr const char* kTable = "member";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "rank",
                                          "host_name_id",
                                          "hostname_name_id",
                                          "device_id",
                                          "capture_name_id",
                                          "chip_name_id",
                                          "verdict",
                                          "verdict_text_name_id",
                                          "is_modelled",
                                          "begin_ns",
                                          "end_ns",
                                          "host_frequency_hz",
                                          "tick_frequency_hz",
                                          "task_count",
                                          "min_frequency_mhz",
                                          "max_frequency_mhz",
                                          "memory_peak_bytes"};
};

// Activity of a rank in a step. step is kNull outside of all steps and in captures without steps.
struct RankStepRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t member_id = 0;
  std::int64_t begin_ns = kNull;
  std::int64_t duration_ns = 0;  // total time if step is kNull
  std::int64_t computing_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t not_overlapped_ns = 0;          // communication without computing
  std::int64_t free_ns = 0;                    // neither computing nor communication
  std::int64_t bubble_ns = 0;                  // receiving from another rank: sum of durations
  std::int64_t not_overlapped_receive_ns = 0;  // part of not_overlapped_ns spent receiving
  std::int64_t preparing_ns = 0;               // from the start of the step to its first work

  static constexpr const char* kTable = "rank_step";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step",
                                          "member_id",
                                          "begin_ns",
                                          "duration_ns",
                                          "computing_ns",
                                          "communication_ns",
                                          "not_overlapped_ns",
                                          "free_ns",
                                          "bubble_ns",
                                          "not_overlapped_receive_ns",
                                          "preparing_ns"};
};

// One rank in one collective. The key of a collective is the same on all its ranks.
struct RankCollectiveRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;  // step in which it started
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;  // "hcom_allReduce_"
  std::int64_t sequence = 0;               // counts from 0 in each operation and group of a step
  std::int64_t member_id = 0;
  std::int64_t start_ns = kNull;
  std::int64_t duration_ns = 0;
  std::int64_t wait_ns = 0;             // waiting for other ranks
  std::int64_t synchronization_ns = 0;  // part of wait_ns before its first transfer
  std::int64_t transit_ns = 0;          // time in which data was transferred
  std::int64_t size_bytes = 0;          // bytes of its transfers

  static constexpr const char* kTable = "rank_collective";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step",
                                          "group_name_id",
                                          "operation_name_id",
                                          "sequence",
                                          "member_id",
                                          "start_ns",
                                          "duration_ns",
                                          "wait_ns",
                                          "synchronization_ns",
                                          "transit_ns",
                                          "size_bytes"};
};

// Transfers of one size over one kind of link, by one rank in one collective.
struct PacketRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t sequence = kNull;  // kNull: sum over all collectives of the step
  std::int64_t member_id = 0;
  std::int64_t link_type = kNull;  // link_types() in export/scope/cann_rules.hpp
  std::int64_t transport_type = kNull;
  std::int64_t size_bytes = 0;  // size of one transfer
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;  // duration of all transfers

  static constexpr const char* kTable = "packet";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step",
                                          "group_name_id",
                                          "operation_name_id",
                                          "sequence",
                                          "member_id",
                                          "link_type",
                                          "transport_type",
                                          "size_bytes",
                                          "count",
                                          "duration_ns"};
};

// Transfers from one rank of a group to another, with sizes between two powers of two.
struct LinkRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t member_id = 0;        // rank that recorded the transfers
  std::int64_t source_rank = kNull;  // source and target: ranks within the group
  std::int64_t target_rank = kNull;
  std::int64_t link_type = kNull;
  std::int64_t transport_type = kNull;
  std::int64_t size_class = 0;  // transfers of 2^size_class bytes or more; 0 includes empty ones
  std::int64_t count = 0;
  std::int64_t size_bytes = 0;   // bytes of all transfers
  std::int64_t duration_ns = 0;  // duration of all transfers

  static constexpr const char* kTable = "link";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY",
                                          "step",
                                          "group_name_id",
                                          "operation_name_id",
                                          "member_id",
                                          "source_rank",
                                          "target_rank",
                                          "link_type",
                                          "transport_type",
                                          "size_class",
                                          "count",
                                          "size_bytes",
                                          "duration_ns"};
};

// A rank of a communication group.
struct GroupMemberRow {
  std::int64_t id = 0;
  std::int64_t group_name_id = kNull;
  std::int64_t member_id = 0;
  std::int64_t local_rank = kNull;  // rank within the group
  std::int64_t rank_count = kNull;  // size of the group, as recorded by this rank

  static constexpr const char* kTable = "group_member";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "group_name_id", "member_id",
                                          "local_rank", "rank_count"};
};

// The integer tables of a part, in the order in which they are written. A part also has the tables
// `op_total` (cluster/op_total.hpp), `name` and `meta`.
using PartRows = std::tuple<MemberRow, GroupMemberRow, RankStepRow, RankCollectiveRow, PacketRow,
                            LinkRow, CollectiveTotalRow, CollectiveRow, CollectiveHostRow>;

}  // namespace msprof::cluster
