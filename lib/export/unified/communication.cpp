// Tables of collectives: COMMUNICATION_OP, COMMUNICATION_TASK_INFO.
// Source: cann_device.md 14.5 (which tasks), 18.1 (slaves without their op), 25.4.
#include <fmt/format.h>

#include "base/text.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

constexpr Table kOps{
    "COMMUNICATION_OP",
    "opName STRING, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName STRING,"
    " opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType STRING,"
    " count NUMERIC, opType STRING, deviceId INTEGER, rankSize INTEGER"};
constexpr std::uint32_t kBandwidthColumn = 1 << 15;
constexpr Table kTasks{
    "COMMUNICATION_TASK_INFO",
    "name STRING, globalTaskId INTEGER, taskType STRING, planeId INTEGER, groupName STRING,"
    " notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER,"
    " size INTEGER, dataType INTEGER, linkType INTEGER, opId INTEGER, isMaster INTEGER,"
    " bandwidth NUMERIC",
    "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)",
    kBandwidthColumn};

constexpr std::int64_t kMissingEnum = 65534;
constexpr std::int64_t kInvalidEnum = 65535;

// Numbers of the ENUM_HCCL_… tables are 16 bits.
std::int64_t enum_of(std::optional<std::int64_t> number) {
  if (!number) return kMissingEnum;
  return *number == kNone32 ? kInvalidEnum : *number;
}

// Bytes a second, in the vendor's order of operations (cann_device.md 25.4).
double bandwidth(double bytes, double ns) {
  return ns > 0 ? bytes / ns * 1000 * 1000 * 1000 : 0;
}

// Exact before it becomes a double: these times are beyond 2^53.
double ns_between(std::int64_t start_ns, std::int64_t end_ns) {
  return static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(end_ns) -
                                                       static_cast<std::uint64_t>(start_ns)));
}

// A task of a collective as it is written.
struct CommTask {
  std::int64_t op = kNone;
  std::int64_t plane = kNone32;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t size = kNone;
  bool is_payload = false;
  std::array<std::int64_t, 16> cells{};
};

constexpr std::int64_t kPayload = 1;  // RDMA_SEND_PAYLOAD

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
  kOpText,
  kKey
};

// The tasks of one op on one plane, in order of their starts: payloads in a row share a rate.
class PlaneTasks {
 public:
  PlaneTasks(Writer& out, Rows& rows) : out_(out), rows_(rows) {}

  void add(const Statement& row) {
    const CommTask task = task_of(row);
    if (!tasks_.empty() && (tasks_.back().op != task.op || tasks_.back().plane != task.plane)) {
      flush();
    }
    if (tasks_.empty()) jump_ = jump_of(lower_ascii(row.text(kOpText)));
    // Without an op nothing shows that tasks belong together.
    tasks_.push_back(task);
    if (task.op == kNone) flush();
  }

  void flush() {
    for (std::size_t first = 0; first < tasks_.size();) {
      std::size_t count = 0;
      while (first + count < tasks_.size() && tasks_[first + count].is_payload) ++count;
      count == 0 ? write(tasks_[first], own_rate(tasks_[first])) : write_payloads(first, count);
      first += std::max<std::size_t>(count, 1);
    }
    tasks_.clear();
  }

 private:
  // Distance behind the payloads of the task that ends them (cann_device.md 25.4).
  static std::size_t jump_of(std::string_view op_name) {
    const bool is_pair = op_name.find("send") != std::string_view::npos ||
                         op_name.find("receive") != std::string_view::npos;
    return is_pair ? 3 : 5;
  }

  CommTask task_of(const Statement& row) const {
    const bool has_info = !row.is_null(kItem);
    const auto or_else = [&](int cell, std::int64_t other) {
      return has_info ? row.maybe_integer(cell).value_or(other) : other;
    };
    const auto number = [&](int cell) {
      return enum_of(has_info ? row.maybe_integer(cell) : std::nullopt);
    };
    CommTask task;
    const bool has_op = !row.is_null(kOpId) && row.integer(kOpStart) >= out_.begin_ns();
    task.op = has_op ? row.integer(kOpId) : kNone;
    task.plane = or_else(kPlane, kNone32);
    task.start_ns = row.integer(kStart);
    if (__builtin_add_overflow(task.start_ns, row.integer(kDuration), &task.end_ns)) {
      throw out_.store().damaged("a task beyond the end of time");
    }
    task.size = or_else(kSize, kNone);
    task.is_payload = has_info && row.maybe_integer(kRdma) == kPayload;
    const std::int64_t id = out_.task_ids().of(row.integer(kTaskId), task_key(row, kKey));
    task.cells = {out_.name(row.maybe_integer(kOpName)),
                  id,
                  out_.name(row.maybe_integer(kItem)),
                  task.plane,
                  out_.name(row.maybe_integer(kGroup)),
                  or_else(kNotify, kNone),
                  number(kRdma),
                  or_else(kSource, kNone32),
                  or_else(kTarget, kNone32),
                  number(kTransport),
                  task.size,
                  number(kDataType),
                  number(kLink),
                  task.op,
                  row.integer(kMaster),
                  0};
    return task;
  }

  static double own_rate(const CommTask& task) {
    return bandwidth(static_cast<double>(task.size), ns_between(task.start_ns, task.end_ns));
  }

  void write_payloads(std::size_t first, std::size_t count) {
    double bytes = 0;
    for (std::size_t i = first; i < first + count; ++i)
      bytes += static_cast<double>(tasks_[i].size);
    const std::size_t closing = first + count + jump_ - 2;
    for (std::size_t i = first; i < first + count; ++i) {
      write(tasks_[i],
            closing >= tasks_.size()
                ? own_rate(tasks_[i])
                : bandwidth(bytes, ns_between(tasks_[first].start_ns, tasks_[closing].end_ns)));
    }
  }

  void write(CommTask& task, double rate) {
    const auto& c = task.cells;
    rows_.add({c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12],
               c[13], c[14], real_cell(rate)});
  }

  Writer& out_;
  Rows& rows_;
  std::size_t jump_ = 0;
  std::vector<CommTask> tasks_;
};

void write_ops(Writer& out) {
  Rows rows(out, kOps);
  Statement read = out.store().prepare(
      "SELECT op.id, op.name_id, op.start_ns, op.end_ns, api_id, op_group_name_id, op_relay,"
      " op_retry, op_data_type, op_algorithm_name_id, op_count, op_kind_name_id, op.device_id,"
      " op.rank_size FROM comm_op AS op LEFT JOIN comm_call AS call ON call.id ="
      " first_comm_call_id WHERE op.start_ns >= ? ORDER BY op.id");
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const auto or_none = [&](int cell) { return read.maybe_integer(cell).value_or(kNone); };
    rows.add({out.name(read.maybe_integer(1)), read.integer(2), read.integer(3), or_none(4),
              out.name(read.maybe_integer(5)), read.integer(0), or_none(6), or_none(7),
              enum_of(read.maybe_integer(8)), out.name(read.maybe_integer(9)), or_none(10),
              out.name(read.maybe_integer(11)), read.integer(12), read.integer(13)});
  }
}

void write_op_tasks(Writer& out) {
  Rows rows(out, kTasks);
  PlaneTasks tasks(out, rows);
  Statement read = out.store().prepare(fmt::format(
      "SELECT task.id, task.start_ns, task.duration_ns, op.id, op.start_ns, op.name_id,"
      " item_name_id, plane_id, call.group_name_id, notify_id, rdma_type, local_rank, remote_rank,"
      " transport_type, size_bytes, data_type, link_type, is_master, name.text, {}"
      " FROM comm_task CROSS JOIN task ON task.id = comm_task.task_id"
      " CROSS JOIN comm_call AS call ON call.id = comm_call_id"
      " LEFT JOIN comm_op_task ON comm_op_task.task_id = task.id"
      " LEFT JOIN comm_op AS op ON op.id = comm_op_id LEFT JOIN name ON name.id = op.name_id"
      " WHERE task.start_ns >= ? AND device_type_name_id IS NOT NULL"
      " ORDER BY op.id, plane_id, task.start_ns, task.id",
      kTaskKeyColumns));
  read.bind(1, out.begin_ns());
  while (read.step()) tasks.add(read);
  tasks.flush();
}

}  // namespace

void write_communication(Writer& out) {
  write_ops(out);
  write_op_tasks(out);
}

}  // namespace msprof::unified
