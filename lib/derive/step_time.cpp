#include <vector>

#include "derive/passes.hpp"

namespace msprof {

void derive_step_time(TraceDbWriter& store) {
  std::vector<StepTimeRow> rows;
  // Aggregates pass over NULL; total() cannot overflow as sum() can.
  Statement read = store.readable().prepare(
      "SELECT run.step_id, count(*), max(task.execution) - min(task.execution) + 1,"
      " min(task.start_ns), max(task.start_ns + task.duration_ns),"
      " CASE WHEN count(task.duration_ns) > 0 THEN"
      "  CAST(min(total(task.duration_ns), 4e18) AS INTEGER) END"
      " FROM task_run AS run CROSS JOIN task"
      " ON task.id BETWEEN run.first_task_id AND run.last_task_id"
      " GROUP BY run.step_id ORDER BY run.step_id");
  const auto cell = [&read](int column) { return read.maybe_integer(column).value_or(kNull); };
  while (read.step()) rows.push_back({cell(0), cell(1), cell(2), cell(3), cell(4), cell(5)});
  for (const StepTimeRow& row : rows) store.add(row);
}

}  // namespace msprof
