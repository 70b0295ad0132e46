#include <algorithm>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"

namespace msprof {

void OpTimes::add(const TaskRow& task) {
  if (task.op_id == kNull) return;
  const auto op = static_cast<std::size_t>(task.op_id);
  while (by_op_.size() <= op)
    by_op_.push_back({static_cast<std::int64_t>(by_op_.size()), -1, 0, kNull, kNull});
  OpTimeRow& time = by_op_[op];
  time.task_count = std::max<std::int64_t>(time.task_count, 0);
  const std::int64_t duration = task.duration_ns;
  if (duration == kNull) return;
  time.min_ns = time.task_count == 0 ? duration : std::min(time.min_ns, duration);
  time.max_ns = std::max(time.max_ns, duration);
  time.total_ns = saturating_add(time.total_ns, duration);
  ++time.task_count;
}

void OpTimes::add(const OpTimes& other) {
  for (std::size_t op = by_op_.size(); op < other.by_op_.size(); ++op)
    by_op_.push_back({static_cast<std::int64_t>(op), -1, 0, kNull, kNull});
  for (std::size_t op = 0; op < other.by_op_.size(); ++op) {
    OpTimeRow& time = by_op_[op];
    const OpTimeRow& more = other.by_op_[op];
    if (more.task_count < 0) continue;
    if (more.task_count > 0) {
      time.min_ns = time.task_count <= 0 ? more.min_ns : std::min(time.min_ns, more.min_ns);
      time.max_ns = std::max(time.max_ns, more.max_ns);
      time.total_ns = saturating_add(time.total_ns, more.total_ns);
    }
    time.task_count = std::max<std::int64_t>(time.task_count, 0) + more.task_count;
  }
}

void derive_op_time(TraceDbWriter& store, const OpTimes& op_times) {
  for (const OpTimeRow& time : op_times.rows()) {
    if (time.task_count >= 0) store.add(time);
  }
}

}  // namespace msprof
