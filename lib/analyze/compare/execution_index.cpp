#include "analyze/compare/execution_index.hpp"

#include <algorithm>

namespace msprof {

ExecutionIndex::ExecutionIndex(const QueryDb& db, TimeUnit unit) : unit_(unit) {
  Statement read = db.prepare(
      "SELECT device_id, model_id, name FROM v_models WHERE model_id IS NOT NULL AND name IS NOT"
      " NULL ORDER BY device_id, model_id, name");
  while (read.step()) {
    model_names_.emplace(std::pair(read.integer(0), read.integer(1)), std::string(read.text(2)));
  }
  if (unit == TimeUnit::iteration) read_iterations(db);
  if (unit == TimeUnit::picture) read_pictures(db);
}

void ExecutionIndex::read_pictures(const QueryDb& db) {
  Statement read = db.prepare(
      "SELECT device_id, model_id, step, batch FROM v_steps WHERE batch > 1"
      " ORDER BY device_id, model_id, step, batch");
  while (read.step()) {
    const Key key{read.integer(0), read.maybe_integer(1).value_or(-1), read.integer(2), 0};
    pictures_[key] = read.real(3);
  }
}

double ExecutionIndex::pictures_of(const TaskPlace& task) const {
  if (pictures_.empty()) return 1;
  const auto found = pictures_.find({task.device_id, task.model_id.value_or(-1), task.step, 0});
  return found == pictures_.end() ? 1 : found->second;
}

void ExecutionIndex::read_iterations(const QueryDb& db) {
  Statement read = db.prepare(
      "SELECT device_id, model_id, start_ns, duration_us FROM v_iterations"
      " WHERE duration_us > 0 ORDER BY device_id, start_ns, model_id, iteration");
  while (read.step()) {
    const std::int64_t device = read.integer(0);
    const double begin = read.real(2), us = read.real(3);
    iterations_[device].push_back({begin, begin + 1000 * us, executions_.size()});
    executions_.push_back({group_of(device, read.maybe_integer(1)), us});
  }
}

// The same model on several devices, or loaded several times, is one group.
std::size_t ExecutionIndex::group_of(std::int64_t device_id, std::optional<std::int64_t> model_id) {
  std::string name;
  if (model_id && unit_ != TimeUnit::whole_run) {
    auto known = model_names_.find({device_id, *model_id});
    if (known == model_names_.end()) known = model_names_.find({0, *model_id});
    name = known != model_names_.end() ? known->second : std::to_string(*model_id);
  }
  return groups_.emplace(name, groups_.size()).first->second;
}

std::optional<std::size_t> ExecutionIndex::find_iteration(const TaskPlace& task) const {
  const auto device = iterations_.find(task.device_id);
  if (device == iterations_.end()) return std::nullopt;
  const auto& all = device->second;
  const auto next = std::upper_bound(all.begin(), all.end(), task.start_ns,
                                     [](double ns, const Iteration& i) { return ns < i.begin_ns; });
  if (next == all.begin() || task.start_ns >= std::prev(next)->end_ns) return std::nullopt;
  return std::prev(next)->execution;
}

std::size_t ExecutionIndex::place_of(const Key& key, const TaskPlace& task) {
  if (last_ && last_->first == key) return last_->second;
  const auto [place, is_new] = places_.emplace(key, executions_.size());
  if (is_new)
    executions_.push_back({group_of(task.device_id, task.model_id), 0, pictures_of(task)});
  last_ = {key, place->second};
  return place->second;
}

std::optional<std::size_t> ExecutionIndex::find(const TaskPlace& task) {
  switch (unit_) {
    case TimeUnit::iteration:
      return find_iteration(task);
    case TimeUnit::whole_run:
      return place_of({task.device_id, 0, 0, 0}, task);
    case TimeUnit::execution:
    case TimeUnit::picture:
      break;
  }
  if (!task.execution) return std::nullopt;
  return place_of({task.device_id, task.model_id.value_or(-1), task.step, *task.execution}, task);
}

}  // namespace msprof
