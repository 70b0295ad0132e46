// StepGrowthFinder checks whether the steps of a cluster get longer, and which component of a step
// grows. The duration of a step is that of its slowest rank; its components are medians over the
// ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/rows.hpp"

namespace msprof::cluster {

enum class StepPart { computing, communication, free };  // communication: only if not overlapped
std::string_view step_part_name(StepPart part);

// Trend of a series: Theil-Sen slope (median of the slopes of all pairs) and z of the Mann-Kendall
// test, corrected for ties.
struct Trend {
  double slope_ns = 0;  // slope per step
  double z = 0;
};
Trend fit_trend(std::span<const std::int64_t> values);

struct StepGrowth {
  std::int64_t step_count = 0;     // number of numbered steps
  std::int64_t elapsed_ns = 0;     // total time of all numbered steps
  std::int64_t median_ns = kNull;  // median duration of a step
  Trend trend;  // trend of step durations; with more than kLeastSteps steps, without the first
  double growth_percent = 0;  // growth from the first to the last step, relative to the median
  bool is_growing = false;
  StepPart part = StepPart::computing;  // the component that grows most
  double part_slope_ns = 0;             // slope of that component per step
};

class StepGrowthFinder {
 public:
  static constexpr std::int64_t kLeastSteps = 5;
  static constexpr double kLeastZ = 2.0;  // one-sided significance of 97.7 %
  static constexpr double kLeastPercent = 5;
  // If there are more steps, each group of neighbouring steps is replaced by its median.
  static constexpr std::size_t kMaxPoints = 512;

  // Adds the ranks of one step; call in step order. Rows outside of steps are ignored.
  void add_step(std::span<const RankStepRow> ranks);
  StepGrowth finish() const;

 private:
  static constexpr std::size_t kParts = 3;
  std::vector<std::int64_t> durations_;
  std::vector<std::int64_t> parts_[kParts];
};

}  // namespace msprof::cluster
