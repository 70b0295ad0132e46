// TaskTimes: what each operator and a whole execution take, from one pass over the tasks of a run.
// For read_run().
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "analyze/compare/execution_index.hpp"

namespace msprof {

struct TypicalTime {
  double us = 0;
  double mad_us = 0;
  double fastest_us = 0;
};

class TaskTimes {
 public:
  // `slot_of_op`: v_ops.op_id ─► its place among `slots` operators; several ids may share one.
  TaskTimes(const QueryDb& db, TimeUnit unit,
            const std::unordered_map<std::int64_t, std::size_t>& slot_of_op, std::size_t slots);

  TypicalTime of_op(std::size_t slot) const;
  std::int64_t count_of_op(std::size_t slot) const { return counts_[slot]; }
  TypicalTime of_execution() const;
  const std::vector<Execution>& executions() const { return index_.executions(); }
  // Devices that ran an operator.
  std::int64_t device_count() const { return static_cast<std::int64_t>(devices_.size()); }
  double outside_share() const { return all_us_ > 0 ? outside_us_ / all_us_ : 0; }
  // Where an operator ran first, to put operators in order.
  std::size_t first_task(std::size_t slot) const { return first_task_[slot]; }

  // What is no operator to v_ops but takes time of its own (collectives); returns its slot.
  std::size_t add_slot();
  void add(std::size_t slot, const TaskPlace& place, double us);

 private:
  struct Sample {
    std::size_t execution = 0;
    double us = 0;
  };
  TypicalTime over_groups(const std::vector<std::vector<double>>& by_group) const;

  TimeUnit unit_;
  ExecutionIndex index_;
  std::vector<std::vector<Sample>> samples_;
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> first_task_;
  std::set<std::int64_t> devices_;
  std::optional<std::int64_t> last_device_;
  std::size_t tasks_ = 0;
  double all_us_ = 0;
  double outside_us_ = 0;
};

}  // namespace msprof
