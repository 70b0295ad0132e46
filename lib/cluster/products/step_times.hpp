// Computes the times of a rank or a pipeline stage in a step, as in the vendor's step trace.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cluster/products/cluster_view.hpp"

namespace msprof::cluster {

// In ns: Computing, Communication(Not Overlapped), Overlapped, Communication, Free, Stage, Bubble,
// Communication(Not Overlapped and Exclude Receive), Preparing.
inline constexpr std::size_t kStepTimes = 9;
using StepTimes = std::array<std::int64_t, kStepTimes>;
extern const std::array<std::string_view, kStepTimes> kStepTimeTitles;

StepTimes make_step_times(const RankStepRow& row);

struct StepTimesRow {
  std::int64_t step = kNull;
  bool is_stage = false;
  std::int64_t rank = 0;                             // if the row is not for a stage
  const std::vector<std::int64_t>* stage = nullptr;  // if the row is for a stage: its ranks
  StepTimes times{};
};

// Calls `take` for the rows of ranks in order of (step, member), then for the rows of stages, in
// which each time is the maximum over the stage's ranks. Rows outside of steps are included only
// for ranks without steps.
void for_each_step_times(const ClusterView& view,
                         const std::function<void(const StepTimesRow&)>& take);

// Returns which members have steps; the index is member id - 1.
std::vector<bool> members_with_steps(const ClusterView& view);

// Returns "(0, 1, 2)"; `between` replaces ", ".
std::string rank_tuple(const std::vector<std::int64_t>& ranks, std::string_view between = ", ");

}  // namespace msprof::cluster
