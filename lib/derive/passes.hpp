// Derive passes: compute rows from other rows, after all raw files were read and before the store
// is published. A new pass needs one file and one line in passes.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/run_summary.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof {

struct TaskSums;  // task_sums.hpp

void run_derive_passes(TraceDbWriter& store);

// iteration, iteration_part: the steps of CANN models, from their step marks.
void derive_iterations(TraceDbWriter& store);

// End of an iteration, for code that runs before derive_iterations() has written the rows.
struct IterationEnd {
  std::int64_t end_ns = kNull;
  std::int64_t model_number = kNull;
  std::int64_t number = 0;
};
// Iterations of a device, sorted by end. Steps marked by the framework are not included.
std::vector<IterationEnd> iteration_ends(const Database& db, std::int64_t device);

// memory_block: allocations by operators with their releases.
void derive_memory_blocks(TraceDbWriter& store);

// runtime_block: allocations by the runtime with their releases.
void derive_runtime_blocks(TraceDbWriter& store);

// comm_op, comm_op_task, comm_span, comm_group: collectives, from their tasks.
void derive_comm_ops(TraceDbWriter& store, const TaskSums& tasks);

// overlap: spans in which each device computed, communicated, or was idle. Run after
// derive_comm_ops().
void derive_overlap(TraceDbWriter& store, const TaskSums& tasks);

// time_block, task_mark, call_mark, comm_op_mark: for timelines. Run after derive_comm_ops().
void derive_marks(TraceDbWriter& store, const TaskSums& tasks);

// execution_call: for advice.
void derive_execution_calls(TraceDbWriter& store, const TaskSums& tasks);

// meta: contents of a capture as shown by `list`. Run after derive_iterations() and
// derive_step_time().
void derive_run_summary(TraceDbWriter& store);

// Writes the number and the median of the times. A time of 0 is an unknown duration.
void write_execution_times(TraceDbWriter& store, std::vector<std::int64_t> times_ns);

// Total duration of tasks by operator. Each pass that reads tasks adds those not yet included.
class OpTimes {
 public:
  void add(const TaskRow& task);
  // Marks these tasks as added. Ranges may be passed in any order.
  void skip(std::int64_t first_task_id, std::int64_t last_task_id) {
    done_[first_task_id] = last_task_id;
  }
  const std::map<std::int64_t, std::int64_t>& done() const { return done_; }
  // Indexed by operator, numbered from 0 or 1. Operators without tasks have task_count -1.
  const std::vector<OpTimeRow>& rows() const { return by_op_; }
  // Adds the totals of `other`. No task may be in both.
  void add(const OpTimes& other);

 private:
  std::vector<OpTimeRow> by_op_;
  std::map<std::int64_t, std::int64_t> done_;  // ranges of added tasks: first id to last id
};

// step_time, execution_time, layer_time, task_run_time: total times of the tasks of board captures.
// Totals by operator are added to `op_times`.
void derive_step_time(TraceDbWriter& store, OpTimes& op_times);

// op_time: total times by operator. `op_times` must contain all tasks.
void derive_op_time(TraceDbWriter& store, const OpTimes& op_times);

}  // namespace msprof
