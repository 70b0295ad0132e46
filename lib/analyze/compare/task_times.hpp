// TaskTimes computes the time of each operator and of an execution in one pass over the tasks of a
// run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyze/compare/run_profile.hpp"
#include "query/query_db.hpp"

namespace msprof {

// Fields of a task that determine its execution.
struct TaskPosition {
  std::int64_t device_id = 0;
  std::optional<std::int64_t> model_id;
  std::int64_t step = 0;
  std::optional<std::int64_t> execution;
  double start_ns = 0;
};

struct ModelExecution {
  std::size_t group = 0;  // executions of one model are one group
  double us = 0;
  double pictures = 1;  // number of pictures processed
};

// Finds the execution to which a task belongs.
class ExecutionIndex {
 public:
  ExecutionIndex(const QueryDb& db, ProfileUnit unit);

  // Returns the index in executions(); empty for a task outside of executions.
  std::optional<std::size_t> find(const TaskPosition& task);
  // Adds a task's duration to the time of its execution; iterations keep their recorded time.
  // Returns the duration per unit, for pictures divided by their number.
  double add(std::size_t execution, double us) {
    us /= executions_[execution].pictures;
    if (unit_ != ProfileUnit::iteration) executions_[execution].us += us;
    return us;
  }
  const std::vector<ModelExecution>& executions() const { return executions_; }
  // Returns the number of executions of a group.
  std::size_t execution_count(std::size_t group) const { return execution_counts_[group]; }

 private:
  struct Iteration {
    double begin_ns = 0, end_ns = 0;
    std::size_t execution = 0;
  };
  using ExecutionKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  void read_models(const QueryDb& db);
  void read_iterations(const QueryDb& db);
  void read_pictures(const QueryDb& db);
  double picture_count(const TaskPosition& task) const;
  void add_execution(const ModelExecution& execution);
  std::size_t find_or_add_group(std::int64_t device_id, std::optional<std::int64_t> model_id);
  std::size_t find_or_add_group(const std::string& name);
  std::optional<std::size_t> find_iteration(const TaskPosition& task) const;
  std::size_t find_or_add_execution(const ExecutionKey& key, const TaskPosition& task);

  ProfileUnit unit_;
  using ModelKey = std::pair<std::int64_t, std::optional<std::int64_t>>;  // device and model id
  std::map<ModelKey, std::int64_t> name_ids_;
  std::map<std::int64_t, std::string> names_;  // by id: many models may share a long name
  std::map<ModelKey, std::size_t> group_of_model_;
  std::map<std::string, std::size_t> groups_;
  std::vector<std::size_t> execution_counts_;  // by group
  std::vector<ModelExecution> executions_;
  std::map<ExecutionKey, std::size_t> places_;
  std::map<ExecutionKey, double> pictures_;  // per execution of a step (key with execution 0)
  std::optional<std::pair<ExecutionKey, std::size_t>> last_;   // cache: tasks arrive by execution
  std::map<std::int64_t, std::vector<Iteration>> iterations_;  // by device, in time order
};

struct TypicalTime {
  double us = 0;
  double mad_us = 0;
  double fastest_us = 0;
};

class TaskTimes {
 public:
  // `slot_of_op` maps v_ops.op_id to one of `slots` operators; several ids may share one.
  TaskTimes(const Database& store, const QueryDb& db, ProfileUnit unit,
            const std::unordered_map<std::int64_t, std::size_t>& slot_of_op, std::size_t slots);

  TypicalTime of_op(std::size_t slot) const;
  std::int64_t count_of_op(std::size_t slot) const { return counts_[slot]; }
  TypicalTime of_execution() const;
  const std::vector<ModelExecution>& executions() const { return index_.executions(); }
  // Returns the number of devices that ran an operator.
  std::int64_t device_count() const { return static_cast<std::int64_t>(devices_.size()); }
  double outside_share() const { return all_us_ > 0 ? outside_us_ / all_us_ : 0; }
  // Returns the index of the operator's first task, for sorting.
  std::size_t first_task(std::size_t slot) const { return first_task_[slot]; }

  // Adds an item that is not in v_ops but takes time (collectives); returns its slot.
  std::size_t add_slot();
  void add(std::size_t slot, const TaskPosition& place, double us);

 private:
  struct Sample {
    std::size_t execution = 0;
    double us = 0;
  };
  struct GroupTime {
    std::size_t group = 0;
    double us = 0;
  };
  TypicalTime over_groups(std::vector<GroupTime> times) const;

  ProfileUnit unit_;
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
