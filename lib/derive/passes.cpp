#include "derive/passes.hpp"

#include "derive/task_sums.hpp"

namespace msprof {

void run_derive_passes(TraceDbWriter& store) {
  // Table `task` needs no index: a step is a few ranges of consecutive task ids.
  store.add_index(kTaskRunOfStep);
  OpTimes op_times;
  derive_step_time(store, op_times);
  const TaskSums tasks = sum_tasks(store, op_times);
  derive_op_time(store, op_times);
  derive_iterations(store);
  derive_memory_blocks(store);
  derive_runtime_blocks(store);
  derive_comm_ops(store, tasks);
  derive_overlap(store, tasks);
  derive_marks(store, tasks);
  derive_execution_calls(store, tasks);
  derive_run_summary(store);
}

}  // namespace msprof
