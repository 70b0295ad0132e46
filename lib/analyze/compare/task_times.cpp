#include "analyze/compare/task_times.hpp"

#include <algorithm>
#include <cmath>

#include "store/row_cursor.hpp"
#include "store/rows/task_rows.hpp"

namespace msprof {

ExecutionIndex::ExecutionIndex(const QueryDb& db, ProfileUnit unit) : unit_(unit) {
  Statement read = db.prepare(
      "SELECT device_id, model_id, name FROM v_models WHERE model_id IS NOT NULL AND name IS NOT"
      " NULL ORDER BY device_id, model_id, name");
  while (read.step()) {
    model_names_.emplace(std::pair(read.integer(0), read.integer(1)), std::string(read.text(2)));
  }
  if (unit == ProfileUnit::iteration) read_iterations(db);
  if (unit == ProfileUnit::picture) read_pictures(db);
}

void ExecutionIndex::read_pictures(const QueryDb& db) {
  Statement read = db.prepare(
      "SELECT device_id, model_id, step, batch FROM v_steps WHERE batch > 1"
      " ORDER BY device_id, model_id, step, batch");
  while (read.step()) {
    const ExecutionKey key{read.integer(0), read.maybe_integer(1).value_or(-1), read.integer(2), 0};
    pictures_[key] = read.real(3);
  }
}

double ExecutionIndex::picture_count(const TaskPosition& task) const {
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
    executions_.push_back({find_or_add_group(device, read.maybe_integer(1)), us});
  }
}

// Executions of the same model on several devices, or loaded several times, are one group.
std::size_t ExecutionIndex::find_or_add_group(std::int64_t device_id,
                                              std::optional<std::int64_t> model_id) {
  std::string name;
  if (model_id && unit_ != ProfileUnit::whole_run) {
    auto known = model_names_.find({device_id, *model_id});
    if (known == model_names_.end()) known = model_names_.find({0, *model_id});
    name = known != model_names_.end() ? known->second : std::to_string(*model_id);
  }
  return groups_.emplace(name, groups_.size()).first->second;
}

std::optional<std::size_t> ExecutionIndex::find_iteration(const TaskPosition& task) const {
  const auto device = iterations_.find(task.device_id);
  if (device == iterations_.end()) return std::nullopt;
  const auto& all = device->second;
  const auto next = std::upper_bound(all.begin(), all.end(), task.start_ns,
                                     [](double ns, const Iteration& i) { return ns < i.begin_ns; });
  if (next == all.begin() || task.start_ns >= std::prev(next)->end_ns) return std::nullopt;
  return std::prev(next)->execution;
}

std::size_t ExecutionIndex::find_or_add_execution(const ExecutionKey& key,
                                                  const TaskPosition& task) {
  if (last_ && last_->first == key) return last_->second;
  const auto [place, is_new] = places_.emplace(key, executions_.size());
  if (is_new)
    executions_.push_back(
        {find_or_add_group(task.device_id, task.model_id), 0, picture_count(task)});
  last_ = {key, place->second};
  return place->second;
}

std::optional<std::size_t> ExecutionIndex::find(const TaskPosition& task) {
  switch (unit_) {
    case ProfileUnit::iteration:
      return find_iteration(task);
    case ProfileUnit::whole_run:
      return find_or_add_execution({task.device_id, 0, 0, 0}, task);
    case ProfileUnit::execution:
    case ProfileUnit::picture:
      break;
  }
  if (!task.execution) return std::nullopt;
  return find_or_add_execution(
      {task.device_id, task.model_id.value_or(-1), task.step, *task.execution}, task);
}

namespace {

constexpr std::size_t kNever = SIZE_MAX;

// Returns device, model and number of each step of an svp capture.
std::unordered_map<std::int64_t, TaskPosition> read_steps(const Database& store) {
  std::unordered_map<std::int64_t, TaskPosition> steps;
  Statement read = store.prepare(
      "SELECT step.id, model.device_id, model.model_id, step.number FROM step LEFT JOIN model"
      " ON model.id = step.model_row");
  while (read.step()) {
    steps[read.integer(0)] = {read.integer(1), read.maybe_integer(2), read.integer(3), {}, 0};
  }
  return steps;
}

}  // namespace

TaskTimes::TaskTimes(const Database& store, const QueryDb& db, ProfileUnit unit,
                     const std::unordered_map<std::int64_t, std::size_t>& slot_of_op,
                     std::size_t slots)
    : unit_(unit), index_(db, unit), samples_(slots), counts_(slots), first_task_(slots, kNever) {
  const auto steps = read_steps(store);
  RowCursor<TaskRow> tasks(
      store,
      {&TaskRow::step_id, &TaskRow::op_id, &TaskRow::start_ns, &TaskRow::duration_ns,
       &TaskRow::execution, &TaskRow::device_id, &TaskRow::model_number},
      {.not_null = {&TaskRow::op_id, &TaskRow::duration_ns}});
  while (tasks.next()) {
    const auto slot = slot_of_op.find(tasks->op_id);
    if (slot == slot_of_op.end() || tasks->duration_ns < 0) continue;
    const auto step = steps.find(tasks->step_id);
    TaskPosition place = step == steps.end() ? TaskPosition() : step->second;
    place.device_id = given(tasks->device_id).value_or(place.device_id);
    if (const auto model = given(tasks->model_number)) place.model_id = model;
    place.execution = given(tasks->execution);
    place.start_ns = static_cast<double>(given(tasks->start_ns).value_or(0));
    add(slot->second, place, static_cast<double>(tasks->duration_ns) / 1000);
  }
}

std::size_t TaskTimes::add_slot() {
  samples_.emplace_back();
  counts_.push_back(0);
  first_task_.push_back(kNever);
  return samples_.size() - 1;
}

void TaskTimes::add(std::size_t slot, const TaskPosition& place, double us) {
  if (first_task_[slot] == kNever) first_task_[slot] = tasks_;
  if (last_device_ != place.device_id) devices_.insert(place.device_id);
  last_device_ = place.device_id;
  ++tasks_;
  ++counts_[slot];
  all_us_ += us;
  const auto execution = index_.find(place);
  if (!execution) {
    outside_us_ += us;
    return;
  }
  us = index_.add(*execution, us);
  auto& samples = samples_[slot];
  // For whole runs, keeps each task, because their spread is the only estimate of noise.
  const bool joins =
      unit_ != ProfileUnit::whole_run && !samples.empty() && samples.back().execution == *execution;
  joins ? void(samples.back().us += us) : samples.push_back({*execution, us});
}

// Computed per group and summed, because an operator may be in several models.
TypicalTime TaskTimes::over_groups(const std::vector<std::vector<double>>& by_group) const {
  std::vector<std::size_t> executions(index_.group_count());
  for (const ModelExecution& execution : index_.executions()) ++executions[execution.group];
  TypicalTime sum;
  for (std::size_t group = 0; group < by_group.size(); ++group) {
    if (by_group[group].empty()) continue;
    // An operator in every second execution costs half its time per execution.
    const double part = static_cast<double>(by_group[group].size()) /
                        static_cast<double>(std::max<std::size_t>(1, executions[group]));
    const double middle = median(by_group[group]);
    sum.us += part * middle;
    sum.mad_us += part * median_deviation(by_group[group], middle);
    sum.fastest_us += part * *std::min_element(by_group[group].begin(), by_group[group].end());
  }
  return sum;
}

TypicalTime TaskTimes::of_op(std::size_t slot) const {
  std::vector<Sample> samples = samples_[slot];
  const auto by_execution = [](const Sample& a, const Sample& b) {
    return a.execution < b.execution;
  };
  std::stable_sort(samples.begin(), samples.end(), by_execution);
  std::vector<std::vector<double>> by_group(index_.group_count());
  for (std::size_t i = 0; i < samples.size();) {
    const std::size_t execution = samples[i].execution;
    double us = 0;
    for (; i < samples.size() && samples[i].execution == execution; ++i) us += samples[i].us;
    by_group[index_.executions()[execution].group].push_back(us);
  }
  TypicalTime time = over_groups(by_group);
  if (unit_ == ProfileUnit::whole_run && !samples.empty()) {
    // The deviation of a sum of n tasks is sqrt(n) times that of one task.
    std::vector<double> each;
    each.reserve(samples.size());
    for (const Sample& sample : samples) each.push_back(sample.us);
    const double devices = static_cast<double>(std::max<std::size_t>(1, by_group[0].size()));
    const double tasks = static_cast<double>(each.size()) / devices;
    time.mad_us = median_deviation(each, median(each)) * std::sqrt(tasks);
  }
  return time;
}

TypicalTime TaskTimes::of_execution() const {
  std::vector<std::vector<double>> by_group(index_.group_count());
  for (const ModelExecution& execution : index_.executions())
    by_group[execution.group].push_back(execution.us);
  return over_groups(by_group);
}

}  // namespace msprof
