// TaskSums: what several passes want to know of all tasks, from one reading of them by all cores.
// For op_time.cpp, comm_ops.cpp and overlap.cpp.
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

// Intervals that neither overlap nor touch, in order of time.
class IntervalUnion {
 public:
  // By start.
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
  // A task of a collective.
  struct CommTask {
    std::int64_t id = 0;
    std::int64_t call_id = 0;  // comm_call
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t model_number = kNull;
  };
  // The tasks of one device that are neighbours: a row of task_run.
  struct Run {
    std::int64_t device_id = 0;
    std::int64_t first_task_id = 0;
    std::int64_t last_task_id = 0;
    std::vector<CommTask> comm_tasks;  // by id
    IntervalUnion computing;           // of tasks that are operators, without those of collectives
    // Of tasks that stretch the time in which a device can be free: the earliest start, the last
    // end.
    Interval whole{INT64_MAX, INT64_MIN};
  };

  // The end of an arrow from a call to a task. Ids of both have 32 bits.
  struct ArrowEnd {
    std::uint32_t task = 0;
    std::uint32_t call = 0;
  };

  std::vector<Run> runs;  // in the order of task_run; none where tasks are of no device
  // For marks.cpp, of captures with runs: all ends by task, the calls that started a copy, the
  // tasks around sub tasks, all by id; and where in time stretches of tasks and calls lie.
  std::vector<std::vector<ArrowEnd>> arrow_ends;  // of one piece after the other
  std::vector<std::uint32_t> copy_calls;
  std::vector<std::uint32_t> outer_tasks;
  std::vector<TimeBlockRow> task_blocks;
  std::vector<TimeBlockRow> call_blocks;
  bool has_marks = false;                     // false: ids are too large, and these are empty
  std::vector<std::int64_t> execution_calls;  // of any capture, by id
};

class OpTimes;  // passes.hpp

// The tasks of a run are in order of start. Those that `op_times` lacks are added to it.
TaskSums sum_tasks(TraceDbWriter& store, OpTimes& op_times);

// Host types whose tasks alone do not stretch that time. Source: cann_device.md 14.5, 23.6.
std::span<const std::string_view> kernel_types();

}  // namespace msprof
