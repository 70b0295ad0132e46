// Rows of a partial result (a part): what one rank, a node or a whole cluster comes to. Integers
// alone; texts are ids into the table `name`, whose rows are in order of their texts, so that ids
// compare as texts do. Times are wall-clock nanoseconds of the rank's host, as recorded. Every
// table is in the order of its key, the columns from `step` on up to the first value; kNull comes
// first. For cluster/ and its readers.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "cluster/total_rows.hpp"
#include "store/cells.hpp"

namespace msprof::cluster {

// A rank: one device of one capture. In order of (rank, host, device, capture); a capture that does
// not know its rank comes behind those that do.
struct MemberRow {
  std::int64_t id = 0;
  std::int64_t rank = kNull;
  std::int64_t host_name_id = kNull;      // of the host's unique id; its name where it has none
  std::int64_t hostname_name_id = kNull;  // as people know it
  std::int64_t device_id = kNull;
  std::int64_t capture_name_id = kNull;  // "PROF_000001_20231114…", without its folder
  std::int64_t chip_name_id = kNull;
  std::int64_t verdict = 0;  // 0 complete, 1 without something, 2 partial
  std::int64_t verdict_text_name_id = kNull;
  std::int64_t is_modelled = 0;   // 1: unit loads are the host runtime's model
  std::int64_t begin_ns = kNull;  // of the collection
  std::int64_t end_ns = kNull;
  std::int64_t host_frequency_hz = kNull;  // of the clocks that stamp its records
  std::int64_t tick_frequency_hz = kNull;
  std::int64_t task_count = 0;
  std::int64_t min_frequency_mhz = kNull;  // of the compute cores, as recorded over time
  std::int64_t max_frequency_mhz = kNull;
  std::int64_t memory_peak_bytes = kNull;  // of device memory

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

// What a rank did in a step. Step kNull: in no step; all of a capture that has none.
struct RankStepRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t member_id = 0;
  std::int64_t begin_ns = kNull;
  std::int64_t duration_ns = 0;  // of step kNull: all of it together
  std::int64_t computing_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t not_overlapped_ns = 0;          // communication without computing
  std::int64_t free_ns = 0;                    // neither
  std::int64_t bubble_ns = 0;                  // receiving from another rank: durations added up
  std::int64_t not_overlapped_receive_ns = 0;  // of not_overlapped_ns that in which it received
  std::int64_t preparing_ns = 0;               // from the begin of the step to its first work

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

// One rank's part in a collective. The same collective has the same key on all its ranks.
struct RankCollectiveRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;  // in which it began
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;  // "hcom_allReduce_"
  std::int64_t sequence = 0;               // from 0: which of its operation and group in the step
  std::int64_t member_id = 0;
  std::int64_t start_ns = kNull;
  std::int64_t duration_ns = 0;
  std::int64_t wait_ns = 0;             // for other ranks
  std::int64_t synchronization_ns = 0;  // of wait_ns that before its first transfer
  std::int64_t transit_ns = 0;          // in which data was on its way
  std::int64_t size_bytes = 0;          // of its transfers

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

// Transfers of one size over one kind of link in a rank's part of a collective.
struct PacketRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t sequence = kNull;  // kNull: of all in the step together
  std::int64_t member_id = 0;
  std::int64_t link_type = kNull;  // export/cann_rules.hpp link_types()
  std::int64_t transport_type = kNull;
  std::int64_t size_bytes = 0;  // of one
  std::int64_t count = 0;
  std::int64_t duration_ns = 0;  // of all together

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

// Transfers from one rank of a group to another, of sizes between two powers of two.
struct LinkRow {
  std::int64_t id = 0;
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t operation_name_id = kNull;
  std::int64_t member_id = 0;        // who recorded it
  std::int64_t source_rank = kNull;  // within the group, as the next
  std::int64_t target_rank = kNull;
  std::int64_t link_type = kNull;
  std::int64_t transport_type = kNull;
  std::int64_t size_class = 0;  // sizes from 2^size_class bytes, 0: also none
  std::int64_t count = 0;
  std::int64_t size_bytes = 0;   // of all together
  std::int64_t duration_ns = 0;  // of all together

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
  std::int64_t local_rank = kNull;  // within the group
  std::int64_t rank_count = kNull;  // of the group, as this rank says it

  static constexpr const char* kTable = "group_member";
  static constexpr std::array kColumns = {"id INTEGER PRIMARY KEY", "group_name_id", "member_id",
                                          "local_rank", "rank_count"};
};

// The tables of integers of a part, in the order in which they are written. `op_total`
// (cluster/op_total.hpp), `name` and `meta` are beside them.
using PartRows = std::tuple<MemberRow, GroupMemberRow, RankStepRow, RankCollectiveRow, PacketRow,
                            LinkRow, CollectiveTotalRow, CollectiveRow, CollectiveHostRow>;

}  // namespace msprof::cluster
