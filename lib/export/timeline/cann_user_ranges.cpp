// Layer msproftx: ranges and marks named by the application, on the host and on devices. Source:
// cann_host.md 2.5.
#include <map>
#include <set>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/user_ranges.hpp"
#include "export/timeline/cann_forms.hpp"
#include "export/timeline/cann_trace.hpp"

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
  RangeWriter(const Database& db, const OutputFile& output_file, const cann::RangeForm& form,
              TraceWriter& out)
      : db_(db),
        scope_(output_file.scope),
        form_(form),
        ends_every_arrow_(output_file.ends_every_arrow),
        begin_ns_(cann::window_begin_ns(db)),
        processes_(db),
        texts_(db),
        out_(out) {}

  void write() {
    write_ranges();
    if (form_.has_device_marks) write_marks();
  }

 private:
  std::string text(std::optional<std::int64_t> id) { return id ? texts_(*id) : "N/A"; }

  bool is_taken(std::int64_t start, std::int64_t end) const {
    return start >= begin_ns_ && scope_.takes_range(start, end);
  }

  void write_ranges() {
    const std::int64_t pid = processes_.pid(form_.process, cann::kHostDevice);
    std::set<std::int64_t> threads;
    cann::UserRanges ranges(
        db_, " FROM user_range AS range LEFT JOIN device_mark AS mark ON 0 ORDER BY range.id");
    while (ranges.next()) {
      const UserRangeRow& range = ranges.range();
      if (!is_taken(range.start_ns, range.end_ns)) continue;
      const TraceLane lane{pid,
                           static_cast<std::int32_t>(static_cast<std::uint32_t>(range.thread_id))};
      if (!out_.begin_slice(text(given(range.message_name_id)), lane, range.start_ns,
                            saturating_subtract(range.end_ns, range.start_ns))) {
        continue;
      }
      threads.insert(lane.tid);
      write_arguments(range);
      out_.end_event();
      if (form_.has_device_marks && range.is_extended != 0 && range.mark_id != kNull) {
        write_arrow(out_, 's', lane, range.mark_id, range.start_ns);
      }
    }
    processes_.write(out_, form_.process, cann::kHostDevice,
                     form_.process_name.empty() ? read_meta(db_, "host.pid_name")
                                                : std::string(form_.process_name),
                     "Thread", threads);
  }

  void write_arguments(const UserRangeRow& range) {
    const std::string_view event = cann::event_type_text(range.event_type);
    if (range.is_extended != 0) {
      out_.argument("event_type", event);
      out_.argument("domain", text(given(range.domain_name_id)));
      return;
    }
    const auto value = static_cast<std::uint64_t>(range.payload_value);
    out_.argument("Category", std::to_string(range.category));
    out_.argument("Payload_type", range.payload_type);
    out_.argument_digits("Payload_value", std::to_string(value));
    out_.argument("Message_type", range.message_type);
    out_.argument("event_type", event);
  }

  // If several marks end one arrow, only the latest is its last end.
  void write_marks() {
    std::map<std::int64_t, std::set<std::int64_t>> streams;  // by device
    cann::UserRanges marks(
        db_,
        ", row_number() OVER (PARTITION BY mark.mark_id ORDER BY mark.start_ns DESC, mark.id) = 1"
        " FROM device_mark AS mark LEFT JOIN (SELECT * FROM user_range WHERE id IN"
        " (SELECT min(id) FROM user_range WHERE is_extended = 1 GROUP BY mark_id)) AS range"
        " ON range.mark_id = mark.mark_id ORDER BY mark.id");
    while (marks.next()) {
      const UserRangeRow& range = marks.range();
      const DeviceMarkRow& mark = marks.mark();
      if (mark.start_ns < begin_ns_ || !scope_.takes(mark.device_id, mark.start_ns, mark.end_ns))
        continue;
      const TraceLane lane{processes_.pid(cann::TraceProcess::hardware, mark.device_id),
                           mark.stream_id};
      if (!out_.begin_slice(text(given(range.message_name_id)), lane, mark.start_ns,
                            saturating_subtract(mark.end_ns, mark.start_ns))) {
        continue;
      }
      streams[mark.device_id].insert(mark.stream_id);
      out_.argument("Physic Stream Id", mark.stream_id);
      out_.argument("Task Id", mark.task_number);
      out_.end_event();
      // An end without a start is a warning in viewers.
      if (range.start_ns == kNull || !is_taken(range.start_ns, range.end_ns) ||
          !out_.draws(saturating_subtract(range.end_ns, range.start_ns))) {
        continue;
      }
      const bool is_last = ends_every_arrow_ || marks.extra() != 0;
      write_arrow(out_, is_last ? 'f' : 't', lane, mark.mark_id, mark.start_ns);
    }
    for (const auto& [device, ids] : streams) {
      processes_.write(out_, cann::TraceProcess::hardware, device, "Ascend Hardware", "Stream",
                       ids);
    }
  }

  const Database& db_;
  const ExportScope& scope_;
  const cann::RangeForm& form_;
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
  explicit CannUserRanges(const cann::RangeForm& form)
      : CannLayer({.name = "msproftx",
                   .help = "ranges and marks of the application",
                   .exists = "SELECT 1 FROM user_range",
                   .needs = {"msproftx"},
                   .own_document = "msprof_tx"}),
        form_(form) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override {
    RangeWriter(db, output_file, form_, out).write();
  }

 private:
  cann::RangeForm form_;
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_user_ranges() {
  return cann::make_user_ranges({});
}

std::unique_ptr<TimelineLayer> cann::make_user_ranges(const RangeForm& form) {
  return std::make_unique<CannUserRanges>(form);
}

}  // namespace msprof
