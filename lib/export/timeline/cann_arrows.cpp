#include "export/timeline/cann_arrows.hpp"

#include <charconv>

#include "base/number.hpp"
#include "export/scope/scoped_rows.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cann {

IdBits calls_with_copies(const Database& db) {
  IdBits calls(db, "api_call");
  calls.read_marks(&CallMarkRow::copies);
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
  ends_.read_marks(&TaskMarkRow::arrow_ends);
  last_tasks_.read_marks(&TaskMarkRow::last_arrow_ends);
  last_ops_.read_marks(&CommOpMarkRow::last_arrow_ends);
  if (scope.candidates && scope.candidates->calls) {
    find_shown_calls(db, scope);
  } else {
    find_hidden_calls(db, scope);
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
