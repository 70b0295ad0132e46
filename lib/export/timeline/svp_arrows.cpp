#include "export/timeline/svp_arrows.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/number.hpp"

namespace msprof::svp {

namespace {

struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t id = 0;       // for a call
  std::int64_t step_id = 0;  // for an execution
  std::int64_t execution = 0;
};

// Limit for calls of one model that run at the same time.
constexpr std::size_t kMaxOpen = 256;

std::vector<Span> calls_named(const Database& db, std::int64_t model_row, std::string_view name) {
  Statement read = db.prepare(
      "SELECT call.start_ns, call.end_ns, call.id FROM api_call AS call"
      " JOIN name ON name.id = call.name_id WHERE call.model_row = ? AND name.text = ?"
      " AND call.start_ns IS NOT NULL AND call.end_ns IS NOT NULL ORDER BY 1, 2, 3");
  read.bind(1, model_row).bind(2, name);
  std::vector<Span> calls;
  while (read.step()) calls.push_back({read.integer(0), read.integer(1), read.integer(2), 0, 0});
  return calls;
}

std::vector<Span> read_executions(const Database& db, std::int64_t model_row) {
  Statement read = db.prepare(
      "SELECT one.timed_start_ns, one.timed_last_start_ns, one.step_id, one.execution"
      " FROM execution_time AS one JOIN step ON step.id = one.step_id"
      " WHERE step.model_row = ? AND one.timed_start_ns IS NOT NULL"
      " ORDER BY one.timed_start_ns, one.step_id, one.execution");
  read.bind(1, model_row);
  std::vector<Span> executions;
  while (read.step())
    executions.push_back({read.integer(0), read.integer(1), 0, read.integer(2), read.integer(3)});
  return executions;
}

void write_arrow(TraceWriter& out, char phase, TraceLane lane, std::int64_t call_id,
                 std::int64_t time_ns) {
  out.arrow(phase, {"execute", "execute", static_cast<std::uint64_t>(call_id)}, lane, time_ns);
}

}  // namespace

ExecutionArrows::ExecutionArrows(const Database& db, std::int64_t model_row,
                                 const ExportScope& scope) {
  const auto takes = [&](const Span& call) {
    return scope.takes_host(call.begin_ns, call.end_ns) &&
           scope.takes_length(saturating_subtract(call.end_ns, call.begin_ns));
  };
  const auto join = [&](const Span& call, const Span& execution) {
    if (!takes(call)) return;
    calls_[{execution.step_id, execution.execution}] = call.id;
    started_.insert(call.id);
  };
  const std::vector<Span> calls = calls_named(db, model_row, "svp_acl_mdl_execute");
  std::vector<Span> open;
  std::vector<Span> others;
  auto next = calls.begin();
  for (const Span& execution : read_executions(db, model_row)) {
    for (; next != calls.end() && next->begin_ns <= execution.begin_ns; ++next)
      open.push_back(*next);
    std::erase_if(open, [&](const Span& call) { return call.end_ns < execution.begin_ns; });
    if (open.size() > kMaxOpen)
      open.erase(open.begin(), open.end() - static_cast<std::ptrdiff_t>(kMaxOpen));
    // If calls of several threads match, uses the one that started last.
    const auto around = std::find_if(open.rbegin(), open.rend(), [&](const Span& call) {
      return call.end_ns >= execution.end_ns;
    });
    if (around == open.rend()) {
      others.push_back(execution);
      continue;
    }
    join(*around, execution);
    open.erase(std::next(around).base());
  }
  const std::vector<Span> started = calls_named(db, model_row, "svp_acl_mdl_execute_async");
  const bool is_in_order =
      started.size() == others.size() &&
      std::equal(started.begin(), started.end(), others.begin(),
                 [](const Span& call, const Span& one) { return call.begin_ns <= one.begin_ns; });
  if (!is_in_order) return;
  for (std::size_t i = 0; i < started.size(); ++i) join(started[i], others[i]);
}

void ExecutionArrows::write_start(TraceWriter& out, std::int64_t call_id, TraceLane lane,
                                  std::int64_t time_ns) const {
  if (started_.contains(call_id)) write_arrow(out, 's', lane, call_id, time_ns);
}

std::optional<std::int64_t> ExecutionArrows::take_end(std::int64_t step_id,
                                                      std::int64_t execution) {
  const Execution asked = {step_id, execution};
  if (asked == asked_) return std::nullopt;
  asked_ = asked;
  const auto arrow = calls_.find(asked);
  if (arrow == calls_.end()) return std::nullopt;
  const std::int64_t call = arrow->second;
  calls_.erase(arrow);
  return call;
}

void ExecutionArrows::write_end(TraceWriter& out, std::int64_t call_id, TraceLane lane,
                                std::int64_t time_ns) {
  write_arrow(out, 'f', lane, call_id, time_ns);
}

}  // namespace msprof::svp
