// Layer communication: collectives and their tasks, by group and plane. Sources: cann_device.md
// 14.5 (omitted rows), 18.1 (collectives), 23.3 (ends of arrows), 23.5 (rows, threads, arguments),
// 25.4 (payloads of RDMA); cann_host.md 1.9 (T4, T6, T7).
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/scope/rdma_payloads.hpp"
#include "export/timeline/cann_arrows.hpp"
#include "export/timeline/cann_forms.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

// The threads of a group on one device: one for its collectives, one per plane.
struct GroupThreads {
  std::int64_t row = 0;
  std::int64_t first_plane = 0;
  bool is_drawn = false;
  std::set<std::int64_t> planes;  // drawn planes
};

// Groups by device and name (kNull: N/A). Thread ids are unique across all devices of the file:
// each group's collectives, then its planes; or only the planes
// (CommunicationForm::first_op_thread).
class CommGroups {
 public:
  CommGroups(const Database& db, std::int64_t first_op_thread) : db_(db) {
    Statement read = db.prepare(
        "SELECT device_id, group_name_id, largest_plane_id FROM comm_group ORDER BY 1, 2");
    std::int64_t next_row = 0;
    std::int64_t count = 0;
    while (read.step()) {
      GroupThreads& group = find(read.integer(0), read.maybe_integer(1));
      group.row = first_op_thread != 0 ? first_op_thread + count++ : next_row++;
      group.first_plane = next_row;
      if (!read.is_null(2)) next_row += 1 + checked_plane(read.integer(2));
    }
  }

  GroupThreads& find(std::int64_t device, std::optional<std::int64_t> name) {
    return groups_[device][name.value_or(kNull)];
  }
  std::int64_t checked_plane(std::int64_t plane) const {
    if (plane < 0 || plane > UINT32_MAX)
      throw db_.damaged("a plane of communication has no number");
    return plane;
  }

  template <typename Take>
  void for_each(Take&& take) const {
    for (const auto& [device, groups] : groups_) {
      for (const auto& [name, group] : groups) {
        if (group.is_drawn) take(device, name, group);
      }
    }
  }

 private:
  const Database& db_;
  std::map<std::int64_t, std::map<std::int64_t, GroupThreads>> groups_;
};

class CommunicationWriter {
 public:
  CommunicationWriter(const Database& db, const OutputFile& output_file,
                      const cann::CommunicationForm& form, TraceWriter& out)
      : db_(db),
        form_(form),
        scope_(output_file.scope),
        output_file_(output_file),
        begin_ns_(cann::window_begin_ns(db)),
        processes_(db),
        texts_(db),
        groups_(db, form.first_op_thread),
        transfers_(db),
        out_(out) {}

  void write() {
    write_tasks();
    write_ops();
    write_metadata();
  }

 private:
  bool is_taken(std::int64_t device, std::int64_t start, std::int64_t end,
                std::optional<std::int64_t> model) const {
    return start >= begin_ns_ && scope_.takes(device, start, end) && scope_.takes_model(model);
  }
  TraceLane lane(std::int64_t device, std::int64_t tid) const {
    return {processes_.pid(cann::TraceProcess::communication, device), tid};
  }
  std::string text(std::optional<std::int64_t> id) { return id ? texts_(*id) : "N/A"; }

  enum TaskCell : int {
    kDevice,
    kStart,
    kDuration,
    kStream,
    kNumber,
    kContext,
    kModel,
    kItem,
    kGroup,
    kPlane,
    kLocal,
    kRemote,
    kNotify,
    kEstimated,
    kSize,
    kDataType,
    kLinkType,
    kTransport,
    kCallId,
    kTaskId
  };

  void write_tasks() {
    Statement read = db_.prepare(
        "SELECT task.device_id, task.start_ns, task.duration_ns, task.stream_id, task.task_number,"
        " task.context, task.model_number, call.item_name_id, call.group_name_id, call.plane_id,"
        " call.local_rank, call.remote_rank, call.notify_id, call.duration_estimated_ps,"
        " call.size_bytes, call.data_type, call.link_type, call.transport_type, call.id, task.id"
        " FROM comm_task LEFT JOIN comm_call AS call ON call.id = comm_task.comm_call_id"
        " LEFT JOIN task ON task.id = comm_task.task_id"
        " WHERE comm_task.task_id BETWEEN ? AND ? ORDER BY comm_task.task_id");
    const auto* candidates = scope_.candidates ? &scope_.candidates->tasks : nullptr;
    constexpr IdRange kAll{INT64_MIN, INT64_MAX};
    for (const IdRange& range :
         candidates != nullptr ? candidates_in(*candidates, kAll) : std::vector<IdRange>{kAll}) {
      read.reset();
      read.bind(1, range.first).bind(2, range.last);
      write_tasks(read);
    }
  }

  void write_tasks(Statement& read) {
    while (read.step()) {
      if (read.is_null(kCallId)) throw db_.damaged("a task of a collective without its call");
      if (read.is_null(kTaskId)) throw db_.damaged("a call of a collective without its task");
      // Without hccl_info the task's operation is unknown.
      if (read.is_null(kItem)) continue;
      const std::int64_t start = read.integer(kStart);
      const std::int64_t end = saturating_add(start, read.integer(kDuration));
      if (is_taken(read.integer(kDevice), start, end, read.maybe_integer(kModel))) {
        write_task(read);
      }
    }
  }

  void write_task(const Statement& row) {
    const std::int64_t device = row.integer(kDevice);
    const std::int64_t duration = row.integer(kDuration);
    GroupThreads& group = groups_.find(device, row.maybe_integer(kGroup));
    const std::int64_t plane = groups_.checked_plane(row.integer(kPlane));
    const std::string item = text(row.maybe_integer(kItem));
    const TraceLane where = lane(device, group.first_plane + plane);
    if (!out_.begin_slice(item, where, row.integer(kStart), duration)) return;
    group.is_drawn = true;
    group.planes.insert(plane);
    const std::string notify = std::to_string(static_cast<std::uint64_t>(row.integer(kNotify)));
    form_.has_new_arguments ? out_.argument("notify_id", notify)
                            : out_.argument_digits("notify_id", notify);
    constexpr double kPsPerUs = 1e6;
    out_.argument_number("duration estimated(us)",
                         static_cast<double>(row.integer(kEstimated)) / kPsPerUs);
    out_.argument("stream id", row.integer(kStream));
    out_.argument("task id", row.integer(kNumber));
    if (form_.has_new_arguments) write_context(row);
    out_.argument("task type", item);
    out_.argument("src rank", row.integer(kLocal));
    out_.argument("dst rank", row.integer(kRemote));
    out_.argument("transport type",
                  cann::find_text(cann::transport_types(), row.integer(kTransport)));
    const std::int64_t bytes = row.integer(kSize);
    out_.argument("size(Byte)", bytes);
    out_.argument("data type", cann::find_text(cann::comm_data_types(), row.integer(kDataType)));
    out_.argument("link type", cann::find_text(cann::link_types(), row.integer(kLinkType)));
    const auto transfer = transfers_.find(
        row.integer(kTaskId), {static_cast<double>(bytes), static_cast<double>(duration)});
    out_.argument_number("bandwidth(GB/s)",
                         transfer.duration_ns == 0 ? 0.0 : transfer.bytes / transfer.duration_ns);
    if (form_.has_new_arguments) write_model(row, kModel);
    out_.end_event();
  }
  void write_context(const Statement& row) {
    out_.argument("context id", row.maybe_integer(kContext).value_or(kInvalidId));
  }
  void write_model(const Statement& row, int column) {
    out_.argument("model id", row.maybe_integer(column).value_or(kInvalidId));
  }

  enum OpCell : int {
    kOpId,
    kOpDevice,
    kOpStart,
    kOpEnd,
    kOpName,
    kOpModel,
    kRanks,
    kOpGroup,
    kOpDataType,
    kAlgorithm,
    kCount,
    kRelay,
    kRetry,
    kApi
  };

  void write_ops() {
    std::shared_ptr<const cann::ArrowEnds> ends;
    if (output_file_.has_arrows) ends = cann::arrow_ends(db_, output_file_);
    // Only collectives with an hccl_op_info are drawn.
    Statement read = db_.prepare(
        "SELECT op.id, op.device_id, op.start_ns, op.end_ns, op.name_id, op.model_number,"
        " op.rank_size, call.op_group_name_id, call.op_data_type, call.op_algorithm_name_id,"
        " call.op_count, call.op_relay, call.op_retry, call.api_id FROM comm_op AS op"
        " CROSS JOIN comm_call AS call ON call.id = op.first_comm_call_id"
        " WHERE op.start_ns <= ? AND op.end_ns >= ? AND call.op_relay IS NOT NULL ORDER BY op.id");
    read.bind(1, scope_.range_end_ns).bind(2, scope_.range_begin_ns);
    while (read.step()) {
      const std::int64_t device = read.integer(kOpDevice);
      const std::int64_t start = read.integer(kOpStart);
      if (!is_taken(device, start, read.integer(kOpEnd), read.maybe_integer(kOpModel))) continue;
      GroupThreads& group = groups_.find(device, read.maybe_integer(kOpGroup));
      const TraceLane where = lane(device, group.row);
      if (!write_op(read, where)) continue;
      group.is_drawn = true;
      if (read.is_null(kApi) || !ends) continue;
      const char phase = ends->phase_of_op(read.integer(kOpId), read.integer(kApi));
      if (phase != 0) cann::write_arrow(out_, phase, where, read.integer(kApi), start);
    }
  }

  // Returns false if it is too short to be drawn.
  bool write_op(const Statement& row, TraceLane where) {
    const std::int64_t start = row.integer(kOpStart);
    if (!out_.begin_slice(text(row.maybe_integer(kOpName)), where, start,
                          saturating_subtract(row.integer(kOpEnd), start))) {
      return false;
    }
    if (form_.has_new_arguments) write_op_arguments(row);
    out_.end_event();
    return true;
  }

  void write_op_arguments(const Statement& row) {
    const auto yes_or_no = [&row](int column) {
      return row.integer(column) != 0 ? TraceText("yes") : TraceText("no");
    };
    out_.argument("rank_size", row.integer(kRanks));
    out_.argument("connection_id", row.integer(kApi));
    write_model(row, kOpModel);
    out_.argument("data_type", cann::find_text(cann::comm_data_types(), row.integer(kOpDataType)));
    out_.argument("alg_type", text(row.maybe_integer(kAlgorithm)));
    out_.argument("count", row.integer(kCount));
    out_.argument("relay", yes_or_no(kRelay));
    out_.argument("retry", yes_or_no(kRetry));
  }

  void write_metadata() {
    std::int64_t last_device = -1;
    groups_.for_each([&](std::int64_t device, std::int64_t name, const GroupThreads& group) {
      if (device != last_device) {
        processes_.write(out_, cann::TraceProcess::communication, device, form_.process_name);
      }
      last_device = device;
      // Threads are sorted in the opposite order of their numbers if first_op_thread is set.
      const std::int64_t plane_order = form_.first_op_thread;
      out_.thread(lane(device, group.row), group_name(name), group.row - plane_order);
      for (const std::int64_t plane : group.planes) {
        const std::int64_t tid = group.first_plane + plane;
        out_.thread(lane(device, tid), fmt::format("Plane {}", plane), tid + plane_order);
      }
    });
  }

  std::string group_name(std::int64_t name_id) const {
    if (!form_.op_thread_name.empty()) return std::string(form_.op_thread_name);
    Statement read = db_.prepare("SELECT text FROM name WHERE id = ?");
    read.bind(1, name_id);
    if (name_id == kNull || !read.step()) return "Communication";
    return fmt::format("Group {} Communication", read.text(0));
  }

  const Database& db_;
  const cann::CommunicationForm& form_;
  const ExportScope& scope_;
  const OutputFile& output_file_;
  std::int64_t begin_ns_;
  cann::TraceProcesses processes_;
  cann::Texts texts_;
  CommGroups groups_;
  cann::PayloadTransfers transfers_;
  TraceWriter& out_;
};

class CannCommunication : public cann::CannLayer {
 public:
  explicit CannCommunication(const cann::CommunicationForm& form)
      : CannLayer({.name = "communication",
                   .help = "collectives and their tasks, by group and plane",
                   .exists = "SELECT 1 FROM comm_task",
                   .needs = {"hccl_info|hccl_op_info"}}),
        form_(form) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    CommunicationWriter(db, output_file, form_, out).write();
  }

 private:
  cann::CommunicationForm form_;
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_communication() {
  return cann::make_communication({});
}

std::unique_ptr<TimelineLayer> cann::make_communication(const CommunicationForm& form) {
  return std::make_unique<CannCommunication>(form);
}

}  // namespace msprof
