// Head of `show`: the steps of a profile, and the one worth inspecting; of captures
// that have no steps to choose from, a summary in one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/database.hpp"

namespace msprof {

// Chip, devices, tasks.
struct Overview {
  std::string chip;  // "Ascend 910B"; empty if unknown
  std::int64_t devices = 0;
  std::int64_t tasks = 0;
};

// Empty if the capture neither names its chip nor has tasks.
std::optional<Overview> overview_of(const Database& db);

// "Ascend 910B, 2 devices, 1,234 tasks"
std::string overview_line(const Overview& overview);

// A step of a profile.
struct StepInfo {
  std::int64_t step_id = 0;
  std::int64_t model_row = 0;
  std::optional<std::int64_t> model_id;  // of the runtime
  std::string model_name;
  std::int64_t number = 0;            // within the model
  std::optional<std::int64_t> batch;  // pictures of one execution
  std::optional<std::int64_t> current_pic_count;
  std::int64_t task_count = 0;
  std::optional<std::int64_t> execution_count;
  std::optional<std::int64_t> busy_ns;

  // Device time of one execution; empty where no duration is known.
  std::optional<double> ns_per_execution() const;
};

// The steps that have tasks, in the order of their rows.
std::vector<StepInfo> steps_with_tasks(const Database& db);

// Index of the step whose executions take longest; 0 if unknown. `steps` is not empty.
std::size_t slowest(const std::vector<StepInfo>& steps);

}  // namespace msprof
