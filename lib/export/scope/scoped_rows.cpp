#include "export/scope/scoped_rows.hpp"

#include <algorithm>

#include "base/number.hpp"

namespace msprof::cann {

namespace {

TaskCursor::Rows::Columns task_columns(TaskCursor::Rows::Columns columns,
                                       const ScopeFilter& scope) {
  columns.insert(columns.end(), {&TaskRow::start_ns, &TaskRow::duration_ns});
  if (scope.is_limited()) {
    columns.insert(columns.end(), {&TaskRow::device_id, &TaskRow::model_number});
  }
  return columns;
}

CallCursor::Rows::Columns call_columns(CallCursor::Rows::Columns columns) {
  columns.insert(columns.end(), {&ApiCallRow::name_id, &ApiCallRow::thread_id,
                                 &ApiCallRow::start_ns, &ApiCallRow::end_ns});
  return columns;
}

}  // namespace

std::vector<IdRange> chunk_ranges(IdRange ids, std::int64_t rows) {
  constexpr std::uint64_t kMaxRanges = 1000;
  if (ids.first > ids.last) return {};
  const auto first = static_cast<std::uint64_t>(ids.first);
  const std::uint64_t span = static_cast<std::uint64_t>(ids.last) - first;
  const auto step = std::max(static_cast<std::uint64_t>(rows), span / kMaxRanges + 1);
  std::vector<IdRange> ranges;
  for (std::uint64_t at = 0;; at += step) {
    const std::uint64_t end = span - at < step ? span : at + step - 1;
    ranges.push_back(
        {static_cast<std::int64_t>(first + at), static_cast<std::int64_t>(first + end)});
    if (end == span) return ranges;
  }
}

TaskCursor::TaskCursor(const Database& db, const ExportScope& scope, Rows::Columns columns,
                       const Rows::Filter& filter, TaskWindow window)
    : scope_(scope),
      rows_(db, scope.candidates ? &scope.candidates->tasks : nullptr,
            task_columns(std::move(columns), scope_), filter) {
  const std::int64_t begin_ns = window_begin_ns(db);
  if (window == TaskWindow::ends_within) first_end_ns_ = begin_ns;
  if (window == TaskWindow::starts_within) first_start_ns_ = saturating_add(begin_ns, 1);
}

bool TaskCursor::next() {
  while (rows_.next()) {
    end_ns_ = saturating_add(rows_->start_ns, rows_->duration_ns);
    if (rows_->start_ns >= first_start_ns_ && end_ns_ >= first_end_ns_ && is_taken()) return true;
  }
  return false;
}

CallCursor::CallCursor(const Database& db, const ExportScope& scope, Rows::Columns columns,
                       const Rows::Filter& filter, CallWindow window)
    : scope_(scope),
      window_(std::move(window)),
      rows_(db, scope.candidates ? &scope.candidates->calls : nullptr,
            call_columns(std::move(columns)), filter) {}

bool CallCursor::next() {
  while (rows_.next()) {
    const ApiCallRow& call = *rows_;
    if (window_.takes(call.name_id, call.thread_id, call.start_ns, call.end_ns) &&
        scope_.takes_call(call.thread_id, call.start_ns, call.end_ns)) {
      return true;
    }
  }
  return false;
}

}  // namespace msprof::cann
