#include "export/unified/task_pmu.hpp"

#include <cmath>

namespace msprof::unified {

namespace {

constexpr std::uint32_t kValueColumn = 1 << 2;
constexpr Table kTaskPmu{
    "TASK_PMU_INFO", "globalTaskId INTEGER, name STRING, value NUMERIC", {}, kValueColumn};

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
      counters_(out.store()) {
  std::vector<std::string> names;
  for (const PmuColumn& column : metrics_.columns()) {
    Metric& metric = kinds_.emplace_back();
    names.push_back(without_unit(column.name, metric.factor));
  }
  if (names.empty()) return;
  out.find_texts(names);
  for (std::size_t i = 0; i < names.size(); ++i) kinds_[i].name = out.text(names[i]);
}

void TaskPmu::write(std::int64_t task_id, std::int64_t unified_id, std::int64_t device_id,
                    PmuTask task) {
  task.counters = counters_.of(task_id);
  if (task.counters == nullptr) return;
  metrics_.evaluate(device_id, task, values_);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double value = std::isfinite(values_[i]) ? values_[i] * kinds_[i].factor : 0.0;
    rows_.add({unified_id, kinds_[i].name, real_cell(value)});
  }
}

}  // namespace msprof::unified
