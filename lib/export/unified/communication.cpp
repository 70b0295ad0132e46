// Tables of collectives: COMMUNICATION_OP, COMMUNICATION_TASK_INFO.
// Source: cann_device.md 14.5 (which tasks), 18.1 (slaves without their op), 25.4.
#include <fmt/format.h>

#include "export/scope/rdma_payloads.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

constexpr UnifiedTable kOps{
    "COMMUNICATION_OP",
    "opName STRING, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName STRING,"
    " opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType STRING,"
    " count NUMERIC, opType STRING, deviceId INTEGER, rankSize INTEGER"};
constexpr std::uint32_t kBandwidthColumn = 1 << 15;
constexpr UnifiedTable kTasks{
    "COMMUNICATION_TASK_INFO",
    "name STRING, globalTaskId INTEGER, taskType STRING, planeId INTEGER, groupName STRING,"
    " notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER,"
    " size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER, isMaster INTEGER,"
    " bandwidth NUMERIC",
    "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)",
    kBandwidthColumn};

constexpr std::int64_t kMissingEnum = 65534;
constexpr std::int64_t kInvalidEnum = 65535;

// Numbers in the ENUM_HCCL_… tables have 16 bits.
std::int64_t to_enum_number(std::optional<std::int64_t> number) {
  if (!number) return kMissingEnum;
  return *number == kInvalidId ? kInvalidEnum : *number;
}

// Returns bytes per second, with the vendor's order of operations (cann_device.md 25.4).
double bandwidth(double bytes, double ns) {
  return ns > 0 ? bytes / ns * 1000 * 1000 * 1000 : 0;
}

enum TaskCell : int {
  kTaskId,
  kStart,
  kDuration,
  kOpId,
  kOpStart,
  kOpName,
  kItem,
  kPlane,
  kGroup,
  kNotify,
  kRdma,
  kSource,
  kTarget,
  kTransport,
  kSize,
  kDataType,
  kLink,
  kMaster,
  kKey
};

class CommTasks {
 public:
  CommTasks(UnifiedWriter& out, UnifiedRows& rows)
      : out_(out), rows_(rows), transfers_(out.store()) {}

  void add(const Statement& row) {
    const bool has_info = !row.is_null(kItem);
    const auto or_else = [&](int cell, std::int64_t other) {
      return has_info ? row.maybe_integer(cell).value_or(other) : other;
    };
    const auto number = [&](int cell) {
      return to_enum_number(has_info ? row.maybe_integer(cell) : std::nullopt);
    };
    const bool has_op = !row.is_null(kOpId) && row.integer(kOpStart) >= out_.begin_ns();
    const std::int64_t duration = row.integer(kDuration);
    std::int64_t end = 0;
    if (__builtin_add_overflow(row.integer(kStart), duration, &end))
      throw out_.store().damaged("the end time of a task is out of range");
    const std::int64_t size = or_else(kSize, kNoValue);
    const auto transfer = transfers_.find(
        row.integer(kTaskId), {static_cast<double>(size), static_cast<double>(duration)});
    rows_.add({out_.name(row.maybe_integer(kOpName)),
               out_.task_ids().find(row.integer(kTaskId), task_key(row, kKey)),
               out_.name(row.maybe_integer(kItem)), or_else(kPlane, kInvalidId),
               out_.name(row.maybe_integer(kGroup)), or_else(kNotify, kNoValue), number(kRdma),
               or_else(kSource, kInvalidId), or_else(kTarget, kInvalidId), number(kTransport), size,
               number(kDataType), number(kLink), has_op ? row.integer(kOpId) : kNoValue,
               row.integer(kMaster), real_cell(bandwidth(transfer.bytes, transfer.duration_ns))});
  }

 private:
  UnifiedWriter& out_;
  UnifiedRows& rows_;
  cann::PayloadTransfers transfers_;
};

void write_ops(UnifiedWriter& out) {
  UnifiedRows rows(out, kOps);
  Statement read = out.store().prepare(
      "SELECT op.id, op.name_id, op.start_ns, op.end_ns, api_id, op_group_name_id, op_relay,"
      " op_retry, op_data_type, op_algorithm_name_id, op_count, op_kind_name_id, op.device_id,"
      " op.rank_size FROM comm_op AS op LEFT JOIN comm_call AS call ON call.id ="
      " first_comm_call_id WHERE op.start_ns >= ? ORDER BY op.id");
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const auto or_none = [&](int cell) { return read.maybe_integer(cell).value_or(kNoValue); };
    rows.add({out.name(read.maybe_integer(1)), read.integer(2), read.integer(3), or_none(4),
              out.name(read.maybe_integer(5)), read.integer(0), or_none(6), or_none(7),
              to_enum_number(read.maybe_integer(8)), out.name(read.maybe_integer(9)), or_none(10),
              out.name(read.maybe_integer(11)), read.integer(12), read.integer(13)});
  }
}

void write_op_tasks(UnifiedWriter& out) {
  UnifiedRows rows(out, kTasks);
  CommTasks tasks(out, rows);
  Statement read = out.store().prepare(fmt::format(
      "SELECT task.id, task.start_ns, task.duration_ns, op.id, op.start_ns, op.name_id,"
      " item_name_id, plane_id, call.group_name_id, notify_id, rdma_type, local_rank, remote_rank,"
      " transport_type, size_bytes, data_type, link_type, is_master, {}"
      " FROM comm_task CROSS JOIN task ON task.id = comm_task.task_id"
      " CROSS JOIN comm_call AS call ON call.id = comm_call_id"
      " LEFT JOIN comm_op_task ON comm_op_task.task_id = task.id"
      " LEFT JOIN comm_op AS op ON op.id = comm_op_id"
      " WHERE task.start_ns >= ? AND device_type_name_id IS NOT NULL"
      " ORDER BY op.id, plane_id, task.start_ns, task.id",
      kTaskKeyColumns));
  read.bind(1, out.begin_ns());
  while (read.step()) tasks.add(read);
}

}  // namespace

void write_communication(UnifiedWriter& out) {
  write_ops(out);
  write_op_tasks(out);
}

}  // namespace msprof::unified
