// The header of `show`: the steps of a profile and the step that is most interesting, or a one-line
// summary for captures without steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/database.hpp"

namespace msprof {

struct Overview {
  std::string chip;  // "Ascend 910B"; empty if unknown
  std::int64_t devices = 0;
  std::int64_t tasks = 0;
};

// Returns empty if the capture records neither a chip nor tasks.
std::optional<Overview> read_overview(const Database& db);

// Returns "Ascend 910B, 2 devices, 1,234 tasks".
std::string overview_line(const Overview& overview);

struct StepInfo {
  std::int64_t step_id = 0;
  std::int64_t model_row = 0;
  std::optional<std::int64_t> model_id;  // number used by the runtime
  // Shared by all steps of a model: a store may have a million steps.
  std::shared_ptr<const std::string> model_name;
  std::int64_t number = 0;            // within the model
  std::optional<std::int64_t> batch;  // pictures per execution
  std::optional<std::int64_t> current_pic_count;
  std::int64_t task_count = 0;
  std::optional<std::int64_t> execution_count;
  std::optional<std::int64_t> busy_ns;

  // Returns the device time per execution; empty if unknown.
  std::optional<double> ns_per_execution() const;
};

// Returns the steps that have tasks, ordered by id.
std::vector<StepInfo> steps_with_tasks(const Database& db);

// Returns the index of the step with the longest execution; 0 if unknown. `steps` must not be
// empty.
std::size_t slowest(const std::vector<StepInfo>& steps);

}  // namespace msprof
