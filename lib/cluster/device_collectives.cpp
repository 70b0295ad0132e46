// Reads the collectives of a device: wait and transfer times, and the links used. Source:
// cann_device.md 18.1 (collectives and their tasks), 25.4 (RDMA payloads that form one transfer).
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "cluster/device_rows.hpp"
#include "export/scope/rdma_payloads.hpp"

namespace msprof::cluster {

namespace {

// Values in hccl_info. Source: cann_host.md 1.9.
constexpr std::int64_t kOnChip = 0;  // link type of transfers within the device
constexpr std::int64_t kUnknownRank = kInvalidId;

enum class TaskWork { other, wait, copy };

// Classifies a task of a collective by name: "Notify_Wait", "Memcpy", "Reduce_Inline".
TaskWork classify_work(std::string_view item) {
  std::string name = lower_ascii(item);
  std::erase_if(name, [](char c) { return c == '_' || c == ' '; });
  if (name.starts_with("notifywait")) return TaskWork::wait;
  const bool is_copy = name.starts_with("memcpy") || name.find("reduce") != std::string::npos;
  return is_copy ? TaskWork::copy : TaskWork::other;
}

struct CommTask {
  std::int64_t plane = kNull;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  TaskWork work = TaskWork::other;
  bool is_master = false;
  bool is_payload = false;
  std::int64_t link_type = kNull;
  std::int64_t transport_type = kNull;
  std::int64_t size_bytes = 0;
  std::int64_t local_rank = kNull;
  std::int64_t remote_rank = kNull;

  std::int64_t end_ns() const { return saturating_add(start_ns, duration_ns); }
  // Returns false for copies within the memory of this device, which use no link.
  bool is_transfer() const {
    return is_payload || (work == TaskWork::copy && link_type != kOnChip);
  }
};

int to_size_class(std::int64_t bytes) {
  int size_class = 0;
  for (; bytes > 1; bytes >>= 1) ++size_class;
  return size_class;
}

// A collective whose tasks are still being read.
struct OpenOp {
  RankCollectiveRow row;
  std::size_t closing_distance = 0;  // see rdma_payloads.hpp
  std::size_t missing = 0;           // tasks not yet read
  std::vector<CommTask> tasks;
};

using PacketKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // link, transport, size
using LinkKey = std::array<std::int64_t, 8>;

class DeviceCollectives {
 public:
  DeviceCollectives(const TraceDb& store, const StoreDevice& device,
                    const std::vector<StepWindow>& steps, DeviceRows& rows)
      : store_(store), device_(device), steps_(steps), rows_(rows) {}

  void read() {
    read_ops();
    count_tasks();
    read_tasks();
    // Collectives that still miss tasks.
    for (auto& [id, op] : ops_) finish(op);
    for (const auto& [key, row] : links_) rows_.links.push_back(row);
    for (const auto& [group, row] : groups_) rows_.groups.push_back(row);
  }

 private:
  void read_ops() {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> counts;
    std::map<std::int64_t, std::size_t> distances;  // by operation
    Statement read = store_.prepare(
        "SELECT comm_op.id, comm_op.start_ns, comm_op.end_ns, comm_op.group_name_id,"
        " comm_op.rank_size, comm_call.op_type_name_id,"
        " (SELECT text FROM name WHERE id = comm_call.op_type_name_id)"
        " FROM comm_op LEFT JOIN comm_call ON comm_call.id = comm_op.first_comm_call_id"
        " WHERE comm_op.device_id = ? ORDER BY comm_op.id");
    read.bind(1, device_.id);
    while (read.step()) {
      const auto cell = [&](int column) { return read.maybe_integer(column).value_or(kNull); };
      OpenOp op;
      op.row.step = step_at(steps_, read.integer(1));
      op.row.group_name_id = cell(3);
      op.row.operation_name_id = cell(5);
      op.row.sequence = counts[{op.row.step, op.row.group_name_id, op.row.operation_name_id}]++;
      op.row.member_id = device_.member_id;
      op.row.start_ns = read.integer(1);
      op.row.duration_ns =
          std::max<std::int64_t>(saturating_subtract(read.integer(2), read.integer(1)), 0);
      const auto [known, is_new] = distances.try_emplace(op.row.operation_name_id);
      if (is_new) known->second = cann::closing_distance(read.text(6));
      op.closing_distance = known->second;
      GroupMemberRow& group = groups_[op.row.group_name_id];
      group.group_name_id = op.row.group_name_id;
      group.member_id = device_.member_id;
      if (group.rank_count == kNull) group.rank_count = cell(4);
      ops_.emplace(read.integer(0), std::move(op));
    }
  }

  void count_tasks() {
    Statement read = store_.prepare(
        "SELECT comm_op_id FROM comm_op_task WHERE task_id BETWEEN ? AND ? ORDER BY task_id");
    read.bind(1, device_.first_task_id).bind(2, device_.last_task_id);
    while (read.step()) {
      const auto op = ops_.find(read.integer(0));
      if (op != ops_.end()) ++op->second.missing;
    }
  }

  // Reads tasks in time order, so that a collective is complete soon after its first task.
  void read_tasks() {
    Statement read = store_.prepare(
        "SELECT m.comm_op_id, t.start_ns, t.duration_ns, c.plane_id, c.item_name_id, c.is_master,"
        " c.rdma_type, c.link_type, c.transport_type, c.size_bytes, c.local_rank, c.remote_rank"
        " FROM comm_op_task AS m CROSS JOIN task AS t ON t.id = m.task_id"
        " CROSS JOIN comm_task AS k ON k.task_id = m.task_id"
        " CROSS JOIN comm_call AS c ON c.id = k.comm_call_id"
        " WHERE m.task_id BETWEEN ? AND ? ORDER BY m.task_id");
    read.bind(1, device_.first_task_id).bind(2, device_.last_task_id);
    while (read.step()) {
      const auto at = ops_.find(read.integer(0));
      if (at == ops_.end()) continue;
      OpenOp& op = at->second;
      const auto cell = [&](int column) { return read.maybe_integer(column).value_or(kNull); };
      CommTask task;
      task.start_ns = read.integer(1);
      task.duration_ns = std::max<std::int64_t>(read.integer(2), 0);
      task.plane = cell(3);
      task.work = work_named(read.maybe_integer(4));
      task.is_master = read.integer(5) != 0;
      task.is_payload = cell(6) == cann::kRdmaPayload;
      task.link_type = cell(7);
      task.transport_type = cell(8);
      task.size_bytes = std::max<std::int64_t>(read.integer(9), 0);
      task.local_rank = cell(10);
      task.remote_rank = cell(11);
      op.tasks.push_back(task);
      if (op.missing > 0 && --op.missing > 0) continue;
      finish(op);
      ops_.erase(at);
    }
  }

  TaskWork work_named(std::optional<std::int64_t> name_id) {
    if (!name_id) return TaskWork::other;
    const auto [at, is_new] = works_.try_emplace(*name_id, TaskWork::other);
    if (is_new) {
      Statement read = store_.prepare("SELECT text FROM name WHERE id = ?");
      read.bind(1, *name_id);
      if (read.step()) at->second = classify_work(read.text(0));
    }
    return at->second;
  }

  void finish(OpenOp& op) {
    std::stable_sort(op.tasks.begin(), op.tasks.end(),
                     [](const CommTask& a, const CommTask& b) { return a.plane < b.plane; });
    packets_.clear();
    bool has_transferred = false;
    for (std::size_t first = 0; first < op.tasks.size();) {
      std::size_t last = first;
      while (last < op.tasks.size() && op.tasks[last].plane == op.tasks[first].plane) ++last;
      add_plane(op, std::span(op.tasks).subspan(first, last - first), has_transferred);
      first = last;
    }
    for (const auto& [key, packet] : packets_) {
      rows_.packets.push_back(packet);
      op.row.size_bytes =
          saturating_add(op.row.size_bytes,
                         static_cast<std::int64_t>(std::min<int128>(
                             static_cast<int128>(packet.size_bytes) * packet.count, INT64_MAX)));
    }
    rows_.collectives.push_back(op.row);
  }

  // Wait and transit times count only the master's tasks; transfers count all tasks.
  void add_plane(OpenOp& op, std::span<const CommTask> tasks, bool& has_transferred) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const CommTask& task = tasks[i];
      note_rank(op, task);
      if (task.is_payload) {
        i = add_payloads(op, tasks, i) - 1;
        has_transferred = has_transferred || task.is_master;
        continue;
      }
      if (task.work == TaskWork::copy) add_transfer(op, task, task.duration_ns);
      if (!task.is_master) continue;
      if (task.is_transfer()) {
        has_transferred = true;
        op.row.transit_ns = saturating_add(op.row.transit_ns, task.duration_ns);
      } else if (task.work == TaskWork::wait) {
        op.row.wait_ns = saturating_add(op.row.wait_ns, task.duration_ns);
        if (!has_transferred)
          op.row.synchronization_ns = saturating_add(op.row.synchronization_ns, task.duration_ns);
      }
    }
  }

  // Adds consecutive payloads, which form one transfer that a later task ends. Returns the index
  // after that task.
  std::size_t add_payloads(OpenOp& op, std::span<const CommTask> tasks, std::size_t first) {
    const cann::PayloadRun run = cann::payload_run(tasks, first, op.closing_distance);
    int128 bytes = 0;
    for (std::size_t i = first; i < run.end; ++i) bytes += tasks[i].size_bytes;
    const std::int64_t all_ns =
        run.is_closed
            ? std::max<std::int64_t>(
                  saturating_subtract(tasks[run.closing].end_ns(), tasks[first].start_ns), 0)
            : 0;
    std::int64_t shared_ns = 0;
    for (std::size_t i = first; i < run.end; ++i) {
      std::int64_t share = tasks[i].duration_ns;
      if (run.is_closed) {
        // Shares are proportional to bytes; the last gets the remainder.
        share = bytes == 0
                    ? 0
                    : static_cast<std::int64_t>(all_ns * int128{tasks[i].size_bytes} / bytes);
        if (i + 1 == run.end) share = saturating_subtract(all_ns, shared_ns);
        shared_ns = saturating_add(shared_ns, share);
      }
      add_transfer(op, tasks[i], share);
      if (tasks[i].is_master) op.row.transit_ns = saturating_add(op.row.transit_ns, share);
      note_rank(op, tasks[i]);
    }
    return run.is_closed ? run.closing + 1 : run.end;
  }

  void add_transfer(const OpenOp& op, const CommTask& task, std::int64_t duration_ns) {
    if (task.is_transfer()) {
      PacketRow& packet = packets_[{task.link_type, task.transport_type, task.size_bytes}];
      packet.step = op.row.step;
      packet.group_name_id = op.row.group_name_id;
      packet.operation_name_id = op.row.operation_name_id;
      packet.sequence = op.row.sequence;
      packet.member_id = device_.member_id;
      packet.link_type = task.link_type;
      packet.transport_type = task.transport_type;
      packet.size_bytes = task.size_bytes;
      ++packet.count;
      packet.duration_ns = saturating_add(packet.duration_ns, duration_ns);
    }
    // A transfer to or from an unknown rank adds no link.
    const bool is_own = !task.is_transfer();
    const std::int64_t target = is_own ? task.local_rank : task.remote_rank;
    if (task.local_rank == kNull || target == kNull || target == kUnknownRank) return;
    const std::int64_t size_class = to_size_class(task.size_bytes);
    LinkRow& link =
        links_[{op.row.step, op.row.group_name_id, op.row.operation_name_id, task.local_rank,
                target, task.link_type, task.transport_type, size_class}];
    link.step = op.row.step;
    link.group_name_id = op.row.group_name_id;
    link.operation_name_id = op.row.operation_name_id;
    link.member_id = device_.member_id;
    link.source_rank = task.local_rank;
    link.target_rank = target;
    link.link_type = task.link_type;
    link.transport_type = task.transport_type;
    link.size_class = size_class;
    ++link.count;
    link.size_bytes = saturating_add(link.size_bytes, task.size_bytes);
    link.duration_ns = saturating_add(link.duration_ns, duration_ns);
  }

  void note_rank(const OpenOp& op, const CommTask& task) {
    if (task.local_rank == kNull || task.local_rank == kUnknownRank) return;
    GroupMemberRow& group = groups_[op.row.group_name_id];
    if (group.local_rank == kNull) group.local_rank = task.local_rank;
  }

  const TraceDb& store_;
  const StoreDevice& device_;
  const std::vector<StepWindow>& steps_;
  DeviceRows& rows_;
  std::unordered_map<std::int64_t, OpenOp> ops_;  // by id; collectives with unread tasks
  std::map<std::int64_t, TaskWork> works_;        // by name id
  std::map<PacketKey, PacketRow> packets_;        // packets of one collective
  std::map<LinkKey, LinkRow> links_;
  std::map<std::int64_t, GroupMemberRow> groups_;
};

}  // namespace

void add_collectives(const TraceDb& store, const StoreDevice& device,
                     const std::vector<StepWindow>& steps, DeviceRows& rows) {
  DeviceCollectives(store, device, steps, rows).read();
}

}  // namespace msprof::cluster
