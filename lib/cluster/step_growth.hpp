// StepGrowth: whether the steps of a cluster take longer and longer, and which part of a step does.
// A step takes as long as its slowest rank; its parts are those of the median rank.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cluster/rows.hpp"

namespace msprof::cluster {

enum class StepPart { computing, communication, free };  // communication: not overlapped
std::string_view step_part_name(StepPart part);

// How a sequence of times goes on: the slope of Theil and Sen (median of the slopes of all pairs)
// and the z of Mann's and Kendall's test, with ties.
struct Trend {
  double slope_ns = 0;  // a step
  double z = 0;
};
Trend trend_of(std::span<const std::int64_t> values);

struct StepGrowth {
  std::int64_t step_count = 0;     // numbered ones
  std::int64_t elapsed_ns = 0;     // of all of them
  std::int64_t median_ns = kNull;  // of a step
  Trend trend;  // of the duration of steps; of more than kLeastSteps without the first
  double growth_percent = 0;  // from the first to the last step, of the median
  bool is_growing = false;
  StepPart part = StepPart::computing;  // that grows most
  double part_slope_ns = 0;             // a step
};

class StepGrowthFinder {
 public:
  static constexpr std::int64_t kLeastSteps = 5;
  static constexpr double kLeastZ = 2.0;  // one-sided 97.7 %
  static constexpr double kLeastPercent = 5;
  // More steps than this are taken in groups of neighbours, each as its median.
  static constexpr std::size_t kMaxPoints = 512;

  // The ranks of one step, step after step; those in no step do not count.
  void add_step(std::span<const RankStepRow> ranks);
  StepGrowth finish() const;

 private:
  static constexpr std::size_t kParts = 3;
  std::vector<std::int64_t> durations_;
  std::vector<std::int64_t> parts_[kParts];
};

}  // namespace msprof::cluster
