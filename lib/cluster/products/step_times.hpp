// The times of a rank, or of a pipeline stage, in a step as the vendor's step trace has them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cluster/products/cluster_view.hpp"

namespace msprof::cluster {

// Computing, Communication(Not Overlapped), Overlapped, Communication, Free, Stage, Bubble,
// Communication(Not Overlapped and Exclude Receive), Preparing; nanoseconds.
inline constexpr std::size_t kStepTimes = 9;
using StepTimes = std::array<std::int64_t, kStepTimes>;
extern const std::array<std::string_view, kStepTimes> kStepTimeTitles;

StepTimes step_times_of(const RankStepRow& row);

struct StepTimesRow {
  std::int64_t step = kNull;
  bool is_stage = false;
  std::int64_t rank = 0;                             // of a rank
  const std::vector<std::int64_t>* stage = nullptr;  // of a stage: its ranks
  StepTimes times{};
};

// Calls `take` for the rows of ranks in order of (step, rank's member), then for those of stages:
// the largest of their ranks, time by time. What a rank did in no step counts where it has none.
void for_each_step_times(const ClusterView& view,
                         const std::function<void(const StepTimesRow&)>& take);

// Members that have steps, by member id - 1.
std::vector<bool> members_with_steps(const ClusterView& view);

// "(0, 1, 2)", or with `between`.
std::string rank_tuple(const std::vector<std::int64_t>& ranks, std::string_view between = ", ");

}  // namespace msprof::cluster
