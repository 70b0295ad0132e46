#include "export/timeline/cann_arrows.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/number.hpp"
#include "export/scope/scoped_rows.hpp"
#include "store/row_cursor.hpp"
#include "store/row_ids.hpp"

namespace msprof::cann {

namespace {

// Looks up EventCalls by call id.
class EventCallIds {
 public:
  explicit EventCallIds(const Database& db)
      : events_(db), read_(db.prepare("SELECT name_id FROM api_call WHERE id = ?")) {}

  bool has(std::int64_t call_id) {
    if (!events_.has_any()) return false;
    read_.reset();
    read_.bind(1, call_id);
    return read_.step() && events_.has(read_.integer(0));
  }

 private:
  EventCalls events_;
  Statement read_;
};

// Reads the drawn collectives, from the last to the first.
class LastOps {
 public:
  explicit LastOps(const Database& db)
      : read_(db.prepare(
            fmt::format("SELECT op.id, call.api_id, op.device_id, op.start_ns FROM comm_op AS op"
                        " CROSS JOIN comm_call AS call ON call.id = op.first_comm_call_id"
                        " WHERE call.api_id IS NOT NULL AND {} ORDER BY op.id DESC",
                        kIsDrawnOp))) {
    next();
  }
  void next() { has_row_ = read_.step(); }
  bool has_row() const { return has_row_; }
  std::int64_t id() const { return read_.integer(0); }
  std::int64_t call_id() const { return read_.integer(1); }
  bool is_later_than(const TaskRow& task) const {
    return std::pair(read_.integer(2), read_.integer(3)) > std::pair(task.device_id, task.start_ns);
  }

 private:
  Statement read_;
  bool has_row_ = false;
};

}  // namespace

bool has_marks(const Database& db) {
  return has_rows(db, "SELECT 1 FROM time_block WHERE of_table = 0");
}

IdBits calls_with_copies(const Database& db) {
  IdBits calls(db, "api_call");
  if (has_marks(db)) {
    calls.read_marks(&CallMarkRow::copies);
    return calls;
  }
  const std::int64_t type = find_name_id(db, "MEMCPY_ASYNC");
  if (type < 0) return calls;
  RowCursor<TaskRow> tasks(db, {&TaskRow::api_id},
                           {.not_null = {&TaskRow::device_type_name_id, &TaskRow::api_id},
                            .equal = {{&TaskRow::host_type_name_id, type}}});
  while (tasks.next()) calls.set(tasks->api_id);
  return calls;
}

void write_arrow(TraceWriter& out, char phase, TraceLane lane, std::int64_t call_id,
                 std::int64_t time_ns) {
  constexpr std::string_view kName = "HostToDevice";
  char name[kName.size() + 24];
  kName.copy(name, kName.size());
  const auto number = static_cast<std::uint64_t>(call_id) << 32;
  const char* end = std::to_chars(name + kName.size(), name + sizeof name, number).ptr;
  const TraceText text({name, static_cast<std::size_t>(end - name)}, true);
  out.arrow(phase, {text, "HostToDevice", number}, lane, time_ns);
}

ArrowEnds::ArrowEnds(const Database& db, const ExportScope& scope, bool ends_every)
    : ends_(db, "task"),
      last_tasks_(db, "task"),
      last_ops_(db, "comm_op"),
      chosen_calls_(db, "api_call"),
      ends_every_(ends_every) {
  if (has_marks(db)) {
    ends_.read_marks(&TaskMarkRow::arrow_ends);
    last_tasks_.read_marks(&TaskMarkRow::last_arrow_ends);
    last_ops_.read_marks(&CommOpMarkRow::last_arrow_ends);
  } else {
    find_ends(db);
  }
  if (scope.candidates && scope.candidates->calls) {
    find_shown_calls(db, scope);
  } else {
    find_hidden_calls(db, scope);
  }
}

void ArrowEnds::find_ends(const Database& db) {
  IdBits seen(db, "api_call");
  EventCallIds event_calls(db);
  const std::int64_t copy = find_name_id(db, "MEMCPY_ASYNC");
  // Tasks that no call started are skipped: an arrow without a start is a warning in viewers.
  RowCursor<TaskRow> tasks(
      db,
      {&TaskRow::id, &TaskRow::api_id, &TaskRow::op_id, &TaskRow::host_type_name_id,
       &TaskRow::device_id, &TaskRow::start_ns},
      {.not_null = {&TaskRow::api_id, &TaskRow::device_type_name_id}, .is_backwards = true});
  LastOps ops(db);
  bool has_task = tasks.next();
  const auto is_last = [&seen](std::int64_t call) {
    if (seen.has(call)) return false;
    seen.set(call);
    return true;
  };
  while (has_task || ops.has_row()) {
    if (!has_task || (ops.has_row() && ops.is_later_than(*tasks))) {
      if (is_last(ops.call_id())) last_ops_.set(ops.id());
      ops.next();
      continue;
    }
    const std::int64_t call = tasks->api_id;
    if (tasks->op_id != kNull || tasks->host_type_name_id == copy || event_calls.has(call)) {
      ends_.set(tasks->id);
      if (is_last(call)) last_tasks_.set(tasks->id);
    }
    has_task = tasks.next();
  }
}

std::shared_ptr<const ArrowEnds> arrow_ends(const Database& db, const OutputFile& output_file) {
  const auto make = [&] {
    return std::make_shared<const ArrowEnds>(db, output_file.scope, output_file.ends_every_arrow);
  };
  return output_file.share ? output_file.share->get<ArrowEnds>(make) : make();
}

// Without a scope only calls from before the collection are hidden, and calls are sorted by start.
void ArrowEnds::find_hidden_calls(const Database& db, const ExportScope& scope) {
  const bool is_limited = !scope.is_everything();
  CallWindow window(db);
  RowCursor<ApiCallRow> calls(db, {&ApiCallRow::id, &ApiCallRow::name_id, &ApiCallRow::thread_id,
                                   &ApiCallRow::start_ns, &ApiCallRow::end_ns});
  while (calls.next()) {
    const std::int64_t start = calls->start_ns;
    const std::int64_t end = calls->end_ns;
    if (!is_limited && start >= window.begin_ns()) return;
    if (!window.takes(calls->name_id, calls->thread_id, start, end) ||
        !scope.takes_call(calls->thread_id, start, end) ||
        !scope.takes_length(saturating_subtract(end, start))) {
      chosen_calls_.set(calls->id);
    }
  }
}

// Used for a short time range, in which few calls are drawn.
void ArrowEnds::find_shown_calls(const Database& db, const ExportScope& scope) {
  are_shown_ = true;
  CallCursor calls(db, scope, {&ApiCallRow::id});
  while (calls.next()) {
    if (scope.takes_length(calls.duration_ns())) chosen_calls_.set(calls->id);
  }
}

}  // namespace msprof::cann
