#include "derive/passes.hpp"
#include "derive/task_sums.hpp"

namespace msprof {

void derive_op_time(TraceDbWriter& store, const TaskSums& tasks) {
  for (const OpTimeRow& time : tasks.by_op) {
    if (time.task_count >= 0) store.add(time);
  }
}

}  // namespace msprof
