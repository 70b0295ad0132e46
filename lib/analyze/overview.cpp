#include "analyze/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof {

std::optional<Overview> read_overview(const Database& db) {
  Statement read = db.prepare(
      "SELECT ifnull((SELECT value FROM meta WHERE key = 'chip'), ''),"
      " (SELECT count(*) FROM device),"
      " (SELECT ifnull(sum(last_task_id - first_task_id + 1), 0) FROM task_run)");
  if (!read.step()) return std::nullopt;
  Overview overview{std::string(read.text(0)), read.integer(1), read.integer(2)};
  if (overview.chip.empty() && overview.tasks == 0) return std::nullopt;
  return overview;
}

std::string overview_line(const Overview& overview) {
  return fmt::format("{}, {}, {}",
                     overview.chip.empty() ? "unknown chip" : printable(overview.chip),
                     counted(static_cast<std::uint64_t>(overview.devices), "device"),
                     counted(static_cast<std::uint64_t>(overview.tasks), "task"));
}

std::optional<double> StepInfo::ns_per_execution() const {
  if (!busy_ns) return std::nullopt;
  const std::int64_t executions = std::max<std::int64_t>(1, execution_count.value_or(1));
  return static_cast<double>(*busy_ns) / static_cast<double>(executions);
}

std::vector<StepInfo> steps_with_tasks(const Database& db) {
  std::vector<StepInfo> steps;
  std::map<std::int64_t, std::shared_ptr<const std::string>> names;  // key: id of the name
  Statement text = db.prepare("SELECT substr(text, 1, 1000) FROM name WHERE id = ?");
  Statement read = db.prepare(
      "SELECT step.id, step.model_row, model.model_id, model.name_id, step.number, step.batch_num,"
      " step.current_pic_count,"
      " step_time.task_count, step_time.execution_count, step_time.busy_ns"
      " FROM step JOIN step_time ON step_time.step_id = step.id"
      " JOIN model ON model.id = step.model_row ORDER BY step.id");
  while (read.step()) {
    const auto [name, is_new] = names.try_emplace(read.integer(3));
    if (is_new && text.bind(1, read.integer(3)).step())
      name->second = std::make_shared<const std::string>(text.text(0));
    if (is_new) text.reset();
    if (!name->second) continue;
    steps.push_back({read.integer(0), read.integer(1), read.maybe_integer(2), name->second,
                     read.integer(4), read.maybe_integer(5), read.maybe_integer(6), read.integer(7),
                     read.maybe_integer(8), read.maybe_integer(9)});
  }
  return steps;
}

std::size_t slowest(const std::vector<StepInfo>& steps) {
  const auto at =
      std::max_element(steps.begin(), steps.end(), [](const StepInfo& a, const StepInfo& b) {
        return a.ns_per_execution().value_or(-1) < b.ns_per_execution().value_or(-1);
      });
  return static_cast<std::size_t>(at - steps.begin());
}

}  // namespace msprof
