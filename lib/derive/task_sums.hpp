// TaskSums: facts that several passes need about all tasks, collected in one pass on all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/trace_db_writer.hpp"

namespace msprof {

struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// A union of intervals: sorted, neither overlapping nor touching.
class IntervalUnion {
 public:
  // Adds an interval. Call in order of start.
  void add(Interval interval) {
    if (interval.end_ns <= interval.start_ns) return;
    if (!intervals_.empty() && interval.start_ns <= intervals_.back().end_ns) {
      intervals_.back().end_ns = std::max(intervals_.back().end_ns, interval.end_ns);
    } else {
      intervals_.push_back(interval);
    }
  }
  const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  std::vector<Interval> intervals_;
};

struct TaskSums {
  struct CommTask {
    std::int64_t id = 0;
    std::int64_t call_id = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t model_number = kNull;
  };
  // Consecutive tasks of one device: a row of task_run.
  struct Run {
    std::int64_t device_id = 0;
    std::int64_t first_task_id = 0;
    std::int64_t last_task_id = 0;
    std::vector<CommTask> comm_tasks;  // sorted by id
    IntervalUnion computing;           // tasks that are operators, except those of collectives
    // From the earliest start to the last end of tasks, without tasks of a type in kernel_types().
    // Idle time is measured within this range.
    Interval whole{INT64_MAX, INT64_MIN};
  };

  // End of an arrow from a call to a task. Both ids have 32 bits.
  struct ArrowEnd {
    std::uint32_t task = 0;
    std::uint32_t call = 0;
  };

  std::vector<Run> runs;  // in the order of task_run; empty if tasks belong to no device
  // Input of marks.cpp. Arrow ends (by task id), calls that started a copy, and tasks with sub
  // tasks are sorted by id.
  std::vector<std::vector<ArrowEnd>> arrow_ends;  // one vector per chunk
  std::vector<std::uint32_t> copy_calls;
  std::vector<std::uint32_t> outer_tasks;
  std::vector<TimeBlockRow> task_blocks;
  std::vector<TimeBlockRow> call_blocks;
  std::vector<std::int64_t> execution_calls;  // sorted by id
};

class OpTimes;  // passes.hpp

// The tasks of a run must be in order of start. Adds tasks to `op_times` that it does not contain
// yet. Throws Error(partial_data) if ids do not fit 32 bits.
TaskSums sum_tasks(TraceDbWriter& store, OpTimes& op_times);

// Host task types that do not extend Run::whole. Source: cann_device.md 14.5, 23.6.
std::span<const std::string_view> kernel_types();

}  // namespace msprof
