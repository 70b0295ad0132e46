// TaskIds: the ids that the unified database gives to tasks ("globalTaskId"). Tasks of a graph that
// runs again have the same device, stream, number, context and batch, and share an id: that of the
// first of them that is asked for (cann_host.md 2.6).
// Four bytes a task tell most tasks whose key is their own; the others are kept exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::unified {

// Context: -1 for none.
struct TaskKey {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t number = 0;
  std::int64_t batch = 0;
  std::int64_t context = -1;
  bool operator==(const TaskKey&) const = default;
};

TaskKey task_key(const TaskRow& task);
// The columns of `task` that make a key, in a query; `first_cell` is where they begin.
inline constexpr std::string_view kTaskKeyColumns =
    "task.device_id, task.stream_id, task.task_number, task.batch, task.context";
TaskKey task_key(const Statement& row, int first_cell);

class TaskIds {
 public:
  explicit TaskIds(const Database& store);

  std::int64_t of(std::int64_t task_id, const TaskKey& key);
  // True once for each id: what the tasks of a key have in common is written for one of them.
  bool describe(std::int64_t task_id, const TaskKey& key);
  // Of what is a task only for the unified database; 0, 1, …
  std::int64_t extra(std::int64_t number) const;

 private:
  struct KeyHash {
    std::size_t operator()(const TaskKey& key) const;
  };
  struct Shared {
    std::int64_t first_id = 0;
    bool is_described = false;
  };
  void find_repeated(const Database& store);
  bool may_repeat(const TaskKey& key) const;

  std::int64_t largest_id_ = 0;
  std::size_t mask_ = 0;
  std::vector<bool> repeated_;  // by hash: met more than once
  std::unordered_map<TaskKey, Shared, KeyHash> shared_;
};

}  // namespace msprof::unified
