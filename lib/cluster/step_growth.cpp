#include "cluster/step_growth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/number.hpp"
#include "cluster/lower_median.hpp"

namespace msprof::cluster {

namespace {

// Reduces `values` to at most `most` values: medians of neighbouring values.
std::vector<std::int64_t> thinned(std::span<const std::int64_t> values, std::size_t most) {
  const std::size_t width = (values.size() + most - 1) / most;
  if (width <= 1) return {values.begin(), values.end()};
  std::vector<std::int64_t> medians;
  for (std::size_t first = 0; first < values.size(); first += width) {
    const std::size_t end = std::min(first + width, values.size());
    std::vector<std::int64_t> some(values.begin() + static_cast<std::ptrdiff_t>(first),
                                   values.begin() + static_cast<std::ptrdiff_t>(end));
    medians.push_back(lower_median(some));
  }
  return medians;
}

}  // namespace

std::string_view step_part_name(StepPart part) {
  constexpr std::array<std::string_view, 3> kNames = {"computing", "communication", "free"};
  return kNames[static_cast<std::size_t>(part)];
}

Trend fit_trend(std::span<const std::int64_t> values) {
  Trend trend;
  const std::size_t count = values.size();
  if (count < 2) return trend;
  std::vector<double> slopes;
  slopes.reserve(count * (count - 1) / 2);
  double rises = 0;
  std::map<std::int64_t, double> times;
  for (std::size_t i = 0; i < count; ++i) {
    ++times[values[i]];
    for (std::size_t j = i + 1; j < count; ++j) {
      const double rise = static_cast<double>(values[j]) - static_cast<double>(values[i]);
      slopes.push_back(rise / static_cast<double>(j - i));
      rises += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  trend.slope_ns = lower_median(slopes);
  const auto n = static_cast<double>(count);
  double variance = n * (n - 1) * (2 * n + 5);
  for (const auto& [value, ties] : times) variance -= ties * (ties - 1) * (2 * ties + 5);
  variance /= 18;
  // The - 1 is the continuity correction.
  if (variance > 0 && rises != 0) trend.z = (rises - (rises > 0 ? 1 : -1)) / std::sqrt(variance);
  return trend;
}

void StepGrowthFinder::add_step(std::span<const RankStepRow> ranks) {
  if (ranks.empty() || ranks.front().step == kNull) return;
  std::int64_t longest_ns = 0;
  std::vector<std::int64_t> parts[kParts];
  for (const RankStepRow& row : ranks) {
    longest_ns = std::max(longest_ns, row.duration_ns);
    const std::int64_t times[kParts] = {row.computing_ns, row.not_overlapped_ns, row.free_ns};
    for (std::size_t i = 0; i < kParts; ++i) parts[i].push_back(times[i]);
  }
  durations_.push_back(longest_ns);
  for (std::size_t i = 0; i < kParts; ++i) parts_[i].push_back(lower_median(parts[i]));
}

StepGrowth StepGrowthFinder::finish() const {
  StepGrowth growth;
  growth.step_count = static_cast<std::int64_t>(durations_.size());
  if (durations_.empty()) return growth;
  for (const std::int64_t ns : durations_)
    growth.elapsed_ns = saturating_add(growth.elapsed_ns, ns);
  std::vector<std::int64_t> sorted = durations_;
  growth.median_ns = lower_median(sorted);
  if (growth.step_count < kLeastSteps) return growth;
  // Skips the first step, which loads and compiles.
  const std::size_t skipped = durations_.size() > static_cast<std::size_t>(kLeastSteps) ? 1 : 0;
  const auto points = thinned(std::span(durations_).subspan(skipped), kMaxPoints);
  // Slopes are per point; with many steps, a point covers several steps.
  const double steps_a_point =
      static_cast<double>(durations_.size() - skipped) / static_cast<double>(points.size());
  growth.trend = fit_trend(points);
  growth.trend.slope_ns /= steps_a_point;
  if (growth.median_ns > 0) {
    growth.growth_percent = 100 * growth.trend.slope_ns *
                            static_cast<double>(growth.step_count - 1) /
                            static_cast<double>(growth.median_ns);
  }
  growth.is_growing = growth.trend.z >= kLeastZ && growth.growth_percent >= kLeastPercent;
  for (std::size_t i = 0; i < kParts; ++i) {
    const double slope =
        fit_trend(thinned(std::span(parts_[i]).subspan(skipped), kMaxPoints)).slope_ns /
        steps_a_point;
    if (i > 0 && slope <= growth.part_slope_ns) continue;
    growth.part = static_cast<StepPart>(i);
    growth.part_slope_ns = slope;
  }
  return growth;
}

}  // namespace msprof::cluster
