#include "export/unified/task_pmu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace msprof::unified {

namespace {

constexpr std::uint32_t kValueColumn = 1 << 2;
constexpr Table kTaskPmu{
    "TASK_PMU_INFO", "globalTaskId INTEGER, name STRING, value NUMERIC", {}, kValueColumn};

// The columns in use.
std::size_t column_count(const Database& store) {
  Statement read = store.prepare("SELECT ifnull(max(column_number) + 1, 0) FROM pmu_column");
  const std::int64_t count = read.step() ? read.integer(0) : 0;
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(kPmuColumns)));
}

std::string counters_sql(std::size_t count) {
  std::string cells;
  for (std::size_t i = 0; i < count; ++i) cells += fmt::format(", c{}", i);
  return fmt::format("SELECT task_id{} FROM task_pmu ORDER BY task_id", cells);
}

// Names have no unit: times are ns, rates bytes a second by the 1024^3 of J-B4.
struct Unit {
  std::string_view suffix;
  double factor;
};
constexpr Unit kUnits[] = {{"(us)", 1000.0}, {"(GB/s)", 1024.0 * 1024.0 * 1024.0}};

std::string without_unit(std::string_view name, double& factor) {
  for (const Unit& unit : kUnits) {
    if (!name.ends_with(unit.suffix)) continue;
    name.remove_suffix(unit.suffix.size());
    factor = unit.factor;
  }
  return std::string(name);
}

}  // namespace

TaskPmu::TaskPmu(Writer& out)
    : metrics_(out.store(), PmuMetrics::Choice::all),
      values_(metrics_.columns().size()),
      rows_(out, kTaskPmu),
      used_(column_count(out.store())),
      read_(out.store().prepare(counters_sql(used_))) {
  counters_.fill(kNull);
  std::vector<std::string> names;
  for (const PmuColumn& column : metrics_.columns()) {
    Metric& metric = kinds_.emplace_back();
    names.push_back(without_unit(column.name, metric.factor));
  }
  if (names.empty()) return;
  out.find_texts(names);
  for (std::size_t i = 0; i < names.size(); ++i) kinds_[i].name = out.text(names[i]);
  more_ = read_.step();
}

bool TaskPmu::find(std::int64_t task_id) {
  while (more_ && read_.integer(0) < task_id) more_ = read_.step();
  if (!more_ || read_.integer(0) != task_id) return false;
  for (std::size_t i = 0; i < used_; ++i) {
    const int cell = static_cast<int>(i) + 1;
    const std::int64_t value = read_.integer(cell);
    counters_[i] = value == 0 && read_.is_null(cell) ? kNull : value;
  }
  return true;
}

void TaskPmu::write(std::int64_t task_id, std::int64_t unified_id, std::int64_t device_id,
                    PmuTask task) {
  if (!find(task_id)) return;
  task.counters = counters_.data();
  metrics_.evaluate(device_id, task, values_);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double value = std::isfinite(values_[i]) ? values_[i] * kinds_[i].factor : 0.0;
    rows_.add({unified_id, kinds_[i].name, real_cell(value)});
  }
}

}  // namespace msprof::unified
