#include "export/scope/iteration_calls.hpp"

#include <algorithm>
#include <utility>

#include "export/scope/id_bits.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

void LaunchSpans::add(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) {
  if (start_ns == kNull || end_ns < start_ns) return;
  first_ns_ = std::min(first_ns_, start_ns);
  last_ns_ = std::max(last_ns_, end_ns);
  Thread& thread = threads_[thread_id];
  const Span span{start_ns, end_ns};
  while (!thread.inner.empty() && thread.inner.back().end_ns >= end_ns) thread.inner.pop_back();
  thread.inner.push_back(span);
  if (thread.outer.empty() || thread.outer.back().end_ns < end_ns) thread.outer.push_back(span);
}

bool LaunchSpans::has_within(const std::vector<Span>& inner, std::int64_t start_ns,
                             std::int64_t end_ns) {
  const auto first =
      std::lower_bound(inner.begin(), inner.end(), start_ns,
                       [](const Span& span, std::int64_t start) { return span.start_ns < start; });
  return first != inner.end() && first->end_ns <= end_ns;
}

bool LaunchSpans::touches(std::int64_t thread_id, std::int64_t start_ns,
                          std::int64_t end_ns) const {
  const auto thread = threads_.find(thread_id);
  if (thread == threads_.end()) return false;
  if (has_within(thread->second.inner, start_ns, end_ns)) return true;
  const auto& outer = thread->second.outer;
  const auto next =
      std::upper_bound(outer.begin(), outer.end(), start_ns,
                       [](std::int64_t start, const Span& span) { return start < span.start_ns; });
  return next != outer.begin() && std::prev(next)->end_ns >= end_ns;
}

bool LaunchSpans::are_within(std::int64_t start_ns, std::int64_t end_ns) const {
  return std::any_of(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return has_within(thread.second.inner, start_ns, end_ns);
  });
}

IterationCalls::IterationCalls(const Database& db,
                               const std::function<bool(const TaskRow& task)>& takes,
                               std::int64_t begin_ns, std::int64_t end_ns) {
  cann::IdBits own(db, ApiCallRow::kTable);
  cann::IdBits others(db, ApiCallRow::kTable);
  cann::IdBits executions(db, ApiCallRow::kTable);
  RowCursor<TaskRow> tasks(db,
                           {&TaskRow::start_ns, &TaskRow::duration_ns, &TaskRow::device_id,
                            &TaskRow::model_number, &TaskRow::api_id},
                           {.not_null = {&TaskRow::device_type_name_id, &TaskRow::api_id}});
  while (tasks.next()) (takes(*tasks) ? own : others).set(tasks->api_id);
  RowCursor<ExecutionCallRow> execution_calls(db);
  while (execution_calls.next()) executions.set(execution_calls->call_id);

  RowCursor<ApiCallRow> calls(
      db, {&ApiCallRow::id, &ApiCallRow::thread_id, &ApiCallRow::start_ns, &ApiCallRow::end_ns});
  // Such calls may also launch later tasks, of other iterations.
  std::int64_t last_ns = end_ns;
  while (calls.next()) {
    const auto [start, end] = std::pair(calls->start_ns, calls->end_ns);
    const bool begins_within = start >= begin_ns && start < end_ns;
    if (begins_within) last_ns = std::max(last_ns, end);
    // A model that was loaded as a whole is launched by the call that waits for the execution.
    const bool executes = executions.has(calls->id) && start <= begin_ns && end >= end_ns;
    if (own.has(calls->id) || executes) {
      own_.add(calls->thread_id, start, end);
    } else if (others.has(calls->id) && start >= begin_ns && start <= last_ns) {
      others_.add(calls->thread_id, start, end);
    }
  }
}

std::optional<bool> IterationCalls::takes_call(std::int64_t thread_id, std::int64_t start_ns,
                                               std::int64_t end_ns) const {
  if (own_.touches(thread_id, start_ns, end_ns)) return true;
  if (others_.touches(thread_id, start_ns, end_ns)) return false;
  return std::nullopt;
}

std::optional<bool> IterationCalls::takes_range(std::int64_t start_ns, std::int64_t end_ns) const {
  if (own_.are_within(start_ns, end_ns)) return true;
  if (others_.are_within(start_ns, end_ns)) return false;
  return std::nullopt;
}

}  // namespace msprof
