#include <algorithm>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "store/row_cursor.hpp"

namespace msprof {

void derive_op_time(TraceDbWriter& store) {
  // Operators are numbered one by one, from 0 or 1; those without a task stay at task_count -1.
  std::vector<OpTimeRow> by_op;
  RowCursor<TaskRow> tasks(store.readable(), {&TaskRow::op_id, &TaskRow::duration_ns},
                           {.not_null = {&TaskRow::op_id}});
  while (tasks.next()) {
    const auto op = static_cast<std::size_t>(tasks->op_id);
    while (by_op.size() <= op)
      by_op.push_back({static_cast<std::int64_t>(by_op.size()), -1, 0, kNull, kNull});
    OpTimeRow& time = by_op[op];
    time.task_count = std::max<std::int64_t>(time.task_count, 0);
    const std::int64_t duration = tasks->duration_ns;
    if (duration == kNull) continue;
    time.min_ns = time.task_count == 0 ? duration : std::min(time.min_ns, duration);
    time.max_ns = std::max(time.max_ns, duration);
    time.total_ns = saturating_add(time.total_ns, duration);
    ++time.task_count;
  }
  for (const OpTimeRow& time : by_op) {
    if (time.task_count >= 0) store.add(time);
  }
}

}  // namespace msprof
