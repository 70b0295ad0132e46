// Layer msproftx: ranges and marks named by the application, on the host and on devices. Source:
// cann_host.md 2.5.
#include <map>
#include <set>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/timeline/cann_trace.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

// Offset from a mark's id to its arrow's id.
constexpr std::uint64_t kFirstArrow = 4'000'000'001;

void write_arrow(TraceWriter& out, char phase, TraceLane lane, std::int64_t mark_id,
                 std::int64_t time_ns) {
  const std::uint64_t id = static_cast<std::uint64_t>(mark_id) + kFirstArrow;
  out.arrow(phase, {"MsTx_" + std::to_string(id), "MsTx", id}, lane, time_ns);
}

class RangeWriter {
 public:
  RangeWriter(const Database& db, const OutputFile& output_file, TraceWriter& out)
      : db_(db),
        scope_(output_file.scope),
        is_cann5_(output_file.is_cann5),
        ends_every_arrow_(output_file.ends_every_arrow),
        begin_ns_(cann::window_begin_ns(db)),
        processes_(db),
        texts_(db),
        out_(out) {}

  void write() {
    write_ranges();
    if (!is_cann5_) write_marks();  // CANN 5 has no device marks
  }

 private:
  enum RangeCell : int {
    kExtended,
    kThread,
    kCategory,
    kEventType,
    kPayloadType,
    kPayloadValue,
    kStart,
    kEnd,
    kMessageType,
    kMessage,
    kDomain,
    kMark
  };

  std::string text(std::optional<std::int64_t> id) { return id ? texts_(*id) : "N/A"; }

  bool is_taken(std::int64_t start, std::int64_t end) const {
    return start >= begin_ns_ && scope_.takes_range(start, end);
  }

  void write_ranges() {
    const auto process =
        is_cann5_ ? cann::TraceProcess::cann5_user_ranges : cann::TraceProcess::user_ranges;
    const std::int64_t pid = processes_.pid(process, cann::kHostDevice);
    std::set<std::int64_t> threads;
    Statement read = db_.prepare(
        "SELECT is_extended, thread_id, category, event_type, payload_type, payload_value, "
        "start_ns,"
        " end_ns, message_type, message_name_id, domain_name_id, mark_id FROM user_range"
        " ORDER BY id");
    while (read.step()) {
      const std::int64_t start = read.integer(kStart);
      const std::int64_t end = read.integer(kEnd);
      if (!is_taken(start, end)) continue;
      const TraceLane lane{
          pid, static_cast<std::int32_t>(static_cast<std::uint32_t>(read.integer(kThread)))};
      if (!out_.begin_slice(text(read.maybe_integer(kMessage)), lane, start,
                            saturating_subtract(end, start))) {
        continue;
      }
      threads.insert(lane.tid);
      write_arguments(read);
      out_.end_event();
      if (!is_cann5_ && read.integer(kExtended) != 0 && !read.is_null(kMark)) {
        write_arrow(out_, 's', lane, read.integer(kMark), start);
      }
    }
    processes_.write(out_, process, cann::kHostDevice,
                     is_cann5_ ? "MsprofTx" : read_meta(db_, "host.pid_name"), "Thread", threads);
  }

  void write_arguments(const Statement& row) {
    const std::string_view event = cann::event_type_text(row.integer(kEventType));
    if (row.integer(kExtended) != 0) {
      out_.argument("event_type", event);
      out_.argument("domain", text(row.maybe_integer(kDomain)));
      return;
    }
    const auto value = static_cast<std::uint64_t>(row.integer(kPayloadValue));
    out_.argument("Category", std::to_string(row.integer(kCategory)));
    out_.argument("Payload_type", row.integer(kPayloadType));
    out_.argument_digits("Payload_value", std::to_string(value));
    out_.argument("Message_type", row.integer(kMessageType));
    out_.argument("event_type", event);
  }

  // If several marks end one arrow, only the latest is its last end.
  void write_marks() {
    enum MarkCell : int {
      kDevice,
      kId,
      kMarkStart,
      kMarkEnd,
      kStream,
      kTask,
      kName,
      kHost,
      kHostEnd,
      kLast
    };
    std::map<std::int64_t, std::set<std::int64_t>> streams;  // by device
    Statement read = db_.prepare(
        "SELECT mark.device_id, mark.mark_id, mark.start_ns, mark.end_ns, mark.stream_id,"
        " mark.task_number, host.message_name_id, host.start_ns, host.end_ns,"
        " row_number() OVER (PARTITION BY mark.mark_id ORDER BY mark.start_ns DESC, mark.id) = 1"
        " FROM device_mark AS mark LEFT JOIN (SELECT * FROM user_range WHERE id IN"
        " (SELECT min(id) FROM user_range WHERE is_extended = 1 GROUP BY mark_id)) AS host"
        " ON host.mark_id = mark.mark_id ORDER BY mark.id");
    while (read.step()) {
      const std::int64_t device = read.integer(kDevice);
      const std::int64_t start = read.integer(kMarkStart);
      const std::int64_t end = read.integer(kMarkEnd);
      const std::int64_t stream = read.integer(kStream);
      if (start < begin_ns_ || !scope_.takes(device, start, end)) continue;
      const TraceLane lane{processes_.pid(cann::TraceProcess::hardware, device), stream};
      if (!out_.begin_slice(text(read.maybe_integer(kName)), lane, start,
                            saturating_subtract(end, start))) {
        continue;
      }
      streams[device].insert(stream);
      out_.argument("Physic Stream Id", stream);
      out_.argument("Task Id", read.integer(kTask));
      out_.end_event();
      // An end without a start is a warning in viewers.
      if (read.is_null(kHost)) continue;
      const std::int64_t host_start = read.integer(kHost);
      const std::int64_t host_end = read.integer(kHostEnd);
      if (!is_taken(host_start, host_end) ||
          !out_.draws(saturating_subtract(host_end, host_start))) {
        continue;
      }
      const bool is_last = ends_every_arrow_ || read.integer(kLast) != 0;
      write_arrow(out_, is_last ? 'f' : 't', lane, read.integer(kId), start);
    }
    for (const auto& [device, ids] : streams) {
      processes_.write(out_, cann::TraceProcess::hardware, device, "Ascend Hardware", "Stream",
                       ids);
    }
  }

  const Database& db_;
  const ExportScope& scope_;
  bool is_cann5_;
  bool ends_every_arrow_;
  std::int64_t begin_ns_;
  cann::TraceProcesses processes_;
  cann::Texts texts_;
  TraceWriter& out_;
};

// Devices repeat marks of the host. Device marks without host marks produce no file
// (cann_host.md 2.5).
class CannUserRanges : public cann::CannLayer {
 public:
  CannUserRanges()
      : CannLayer({.name = "msproftx",
                   .help = "ranges and marks of the application",
                   .exists = "SELECT 1 FROM user_range",
                   .needs = {"msproftx"},
                   .own_document = "msprof_tx",
                   .cann5_topics = {{10, "msprof_tx", 0, Cann5Folder::host}},
                   .is_of_host = true}) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    RangeWriter(db, output_file, out).write();
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_user_ranges() {
  return std::make_unique<CannUserRanges>();
}

}  // namespace msprof
