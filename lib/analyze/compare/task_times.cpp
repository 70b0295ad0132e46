#include "analyze/compare/task_times.hpp"

#include <algorithm>
#include <cmath>

#include "store/row_cursor.hpp"
#include "store/rows/task_rows.hpp"

namespace msprof {

ExecutionIndex::ExecutionIndex(const QueryDb& db, ProfileUnit unit) : unit_(unit) {
  if (unit != ProfileUnit::whole_run) read_models(db);
  if (unit == ProfileUnit::iteration) read_iterations(db);
  if (unit == ProfileUnit::picture) read_pictures(db);
}

// If a model id has several names, the first in alphabetical order is used.
void ExecutionIndex::read_models(const QueryDb& db) {
  Statement names = db.prepare(
      "SELECT id, substr(text, 1, 1000) FROM name WHERE id IN (SELECT name_id FROM model) ORDER BY "
      "id");
  while (names.step()) names_.emplace(names.integer(0), names.text(1));
  Statement read = db.prepare(
      "SELECT device_id, model_id, name_id FROM model WHERE model_id IS NOT NULL ORDER BY id");
  while (read.step()) {
    const auto name = names_.find(read.integer(2));
    if (name == names_.end()) continue;
    const auto [known, is_new] =
        name_ids_.emplace(ModelKey(read.integer(0), read.integer(1)), name->first);
    if (!is_new && name->second < names_.at(known->second)) known->second = name->first;
  }
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
    add_execution({find_or_add_group(device, read.maybe_integer(1)), us});
  }
}

void ExecutionIndex::add_execution(const ModelExecution& execution) {
  executions_.push_back(execution);
  ++execution_counts_[execution.group];
}

// Executions of the same model on several devices, or loaded several times, are one group.
std::size_t ExecutionIndex::find_or_add_group(std::int64_t device_id,
                                              std::optional<std::int64_t> model_id) {
  if (!model_id || unit_ == ProfileUnit::whole_run) return find_or_add_group(std::string());
  const auto [known, is_new] = group_of_model_.try_emplace({device_id, model_id});
  if (!is_new) return known->second;
  auto name = name_ids_.find({device_id, model_id});
  if (name == name_ids_.end()) name = name_ids_.find({0, model_id});
  known->second = find_or_add_group(name != name_ids_.end() ? names_.at(name->second)
                                                            : std::to_string(*model_id));
  return known->second;
}

std::size_t ExecutionIndex::find_or_add_group(const std::string& name) {
  const auto [known, is_new] = groups_.emplace(name, groups_.size());
  if (is_new) execution_counts_.push_back(0);
  return known->second;
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
    add_execution({find_or_add_group(task.device_id, task.model_id), 0, picture_count(task)});
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
TypicalTime TaskTimes::over_groups(std::vector<GroupTime> times) const {
  std::stable_sort(times.begin(), times.end(),
                   [](const GroupTime& a, const GroupTime& b) { return a.group < b.group; });
  TypicalTime sum;
  for (auto begin = times.begin(); begin != times.end();) {
    const std::size_t group = begin->group;
    std::vector<double> us;
    for (; begin != times.end() && begin->group == group; ++begin) us.push_back(begin->us);
    // An operator in every second execution costs half its time per execution.
    const double part =
        static_cast<double>(us.size()) / static_cast<double>(index_.execution_count(group));
    const double middle = median(us);
    sum.us += part * middle;
    sum.mad_us += part * median_deviation(us, middle);
    sum.fastest_us += part * *std::min_element(us.begin(), us.end());
  }
  return sum;
}

TypicalTime TaskTimes::of_op(std::size_t slot) const {
  std::vector<Sample> samples = samples_[slot];
  const auto by_execution = [](const Sample& a, const Sample& b) {
    return a.execution < b.execution;
  };
  std::stable_sort(samples.begin(), samples.end(), by_execution);
  std::vector<GroupTime> times;
  for (std::size_t i = 0; i < samples.size();) {
    const std::size_t execution = samples[i].execution;
    double us = 0;
    for (; i < samples.size() && samples[i].execution == execution; ++i) us += samples[i].us;
    times.push_back({index_.executions()[execution].group, us});
  }
  // For a whole run, an execution is a device.
  const double devices = static_cast<double>(std::max<std::size_t>(1, times.size()));
  TypicalTime time = over_groups(std::move(times));
  if (unit_ == ProfileUnit::whole_run && !samples.empty()) {
    // The deviation of a sum of n tasks is sqrt(n) times that of one task.
    std::vector<double> each;
    each.reserve(samples.size());
    for (const Sample& sample : samples) each.push_back(sample.us);
    const double tasks = static_cast<double>(each.size()) / devices;
    time.mad_us = median_deviation(each, median(each)) * std::sqrt(tasks);
  }
  return time;
}

TypicalTime TaskTimes::of_execution() const {
  std::vector<GroupTime> times;
  for (const ModelExecution& execution : index_.executions())
    times.push_back({execution.group, execution.us});
  return over_groups(std::move(times));
}

}  // namespace msprof
