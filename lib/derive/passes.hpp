// Derive passes: rows made from rows, after every raw file is in and before the store is published.
// For the importer. A new pass is one file and one line in passes.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "store/run_summary.hpp"
#include "store/trace_db.hpp"

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

// comm_op, comm_op_task, comm_span, comm_group: collectives, from their tasks.
void derive_comm_ops(TraceDbWriter& store, const TaskSums& tasks);

// overlap: spans in which each device computed, communicated, or was free; after comm_op.
void derive_overlap(TraceDbWriter& store, const TaskSums& tasks);

// time_block, task_mark, call_mark, comm_op_mark: for timelines; after comm_op.
void derive_marks(TraceDbWriter& store, const TaskSums& tasks);

// meta: what `list` says of a capture; after iteration and step_time.
void derive_run_summary(TraceDbWriter& store);

// Their number and their median; 0 is an execution without a known time.
void write_execution_times(TraceDbWriter& store, std::vector<std::int64_t> times_ns);

// step_time: begin and end of each step, and its number of tasks.
void derive_step_time(TraceDbWriter& store);

// op_time: what each operator's tasks took together.
void derive_op_time(TraceDbWriter& store, const TaskSums& tasks);

}  // namespace msprof
