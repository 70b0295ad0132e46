// Derive passes: rows made from rows, after every raw file is in and before the store is published.
// For the importer. A new pass is one file and one line in passes.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/run_summary.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof {

struct TaskSums;  // task_sums.hpp

// Runs all passes in their order.
void run_derive_passes(TraceDbWriter& store);

// Indexes, which cost less after load than during it.
void create_indexes(TraceDbWriter& store);

// iteration, iteration_part: the steps of CANN models, from their step marks.
void derive_iterations(TraceDbWriter& store);

// An iteration's end, as derive_iterations() finds it, for who needs it before the rows are there.
struct IterationEnd {
  std::int64_t end_ns = kNull;
  std::int64_t model_number = kNull;
  std::int64_t number = 0;
};
// Those of a device, by their ends. Steps of the framework are none of them.
std::vector<IterationEnd> iteration_ends(const Database& db, std::int64_t device);

// memory_block: allocations of operators with their releases.
void derive_memory_blocks(TraceDbWriter& store);

// runtime_block: allocations of the runtime with their releases.
void derive_runtime_blocks(TraceDbWriter& store);

// comm_op, comm_op_task, comm_span, comm_group: collectives, from their tasks.
void derive_comm_ops(TraceDbWriter& store, const TaskSums& tasks);

// overlap: spans in which each device computed, communicated, or was free; after comm_op.
void derive_overlap(TraceDbWriter& store, const TaskSums& tasks);

// time_block, task_mark, call_mark, comm_op_mark: for timelines; after comm_op.
void derive_marks(TraceDbWriter& store, const TaskSums& tasks);

// execution_call: for advice.
void derive_execution_calls(TraceDbWriter& store, const TaskSums& tasks);

// meta: what `list` says of a capture; after iteration and step_time.
void derive_run_summary(TraceDbWriter& store);

// Their number and their median; 0 is an execution without a known time.
void write_execution_times(TraceDbWriter& store, std::vector<std::int64_t> times_ns);

// Durations of tasks by operator, added up by whichever pass reads the tasks.
class OpTimes {
 public:
  void add(const TaskRow& task);
  // These tasks have been added; ranges come in any order.
  void skip(std::int64_t first_task_id, std::int64_t last_task_id) {
    done_[first_task_id] = last_task_id;
  }
  const std::map<std::int64_t, std::int64_t>& done() const { return done_; }
  // Operators are numbered one by one, from 0 or 1; those without a task have task_count -1.
  const std::vector<OpTimeRow>& rows() const { return by_op_; }
  // Adds what another has of other tasks.
  void add(const OpTimes& other);

 private:
  std::vector<OpTimeRow> by_op_;
  std::map<std::int64_t, std::int64_t> done_;  // first and last id
};

// step_time, execution_time, layer_time, task_run_time: what the tasks of the captures of a board
// took together. Their operators' part goes to `op_times`.
void derive_step_time(TraceDbWriter& store, OpTimes& op_times);

// op_time: what each operator's tasks took together; `op_times` has all of them.
void derive_op_time(TraceDbWriter& store, const OpTimes& op_times);

}  // namespace msprof
