// ExecutionIndex: which execution of a run a task belongs to. For TaskTimes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/compare/run_profile.hpp"
#include "query/query_db.hpp"

namespace msprof {

// What v_tasks says of a task.
struct TaskPlace {
  std::int64_t device_id = 0;
  std::optional<std::int64_t> model_id;
  std::int64_t step = 0;
  std::optional<std::int64_t> execution;
  double start_ns = 0;
};

struct Execution {
  std::size_t group = 0;  // executions of one model belong together
  double us = 0;
  double pictures = 1;  // that one time stands for
};

class ExecutionIndex {
 public:
  ExecutionIndex(const QueryDb& db, TimeUnit unit);

  // The place in executions(); empty for a task outside of them.
  std::optional<std::size_t> find(const TaskPlace& task);
  // Adds a duration, which counts where an execution is as long as its tasks are together. Returns
  // what it is of the unit: of a picture its part.
  double add(std::size_t execution, double us) {
    us /= executions_[execution].pictures;
    if (unit_ != TimeUnit::iteration) executions_[execution].us += us;
    return us;
  }
  const std::vector<Execution>& executions() const { return executions_; }
  std::size_t group_count() const { return groups_.size(); }

 private:
  struct Iteration {
    double begin_ns = 0, end_ns = 0;
    std::size_t execution = 0;
  };
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  void read_iterations(const QueryDb& db);
  void read_pictures(const QueryDb& db);
  double pictures_of(const TaskPlace& task) const;
  std::size_t group_of(std::int64_t device_id, std::optional<std::int64_t> model_id);
  std::optional<std::size_t> find_iteration(const TaskPlace& task) const;
  std::size_t place_of(const Key& key, const TaskPlace& task);

  TimeUnit unit_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> model_names_;
  std::map<std::string, std::size_t> groups_;
  std::vector<Execution> executions_;
  std::map<Key, std::size_t> places_;
  std::map<Key, double> pictures_;  // of one execution of a step (key with execution 0)
  std::optional<std::pair<Key, std::size_t>> last_;  // tasks of an execution are neighbours
  std::map<std::int64_t, std::vector<Iteration>> iterations_;  // by device, in order of time
};

}  // namespace msprof
