// Steps that become longer: finds the trend of step times.
#include "cluster/step_growth.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace msprof;
using namespace msprof::cluster;

namespace {

RankStepRow rank_step(std::int64_t step, std::int64_t member, std::int64_t computing,
                      std::int64_t communication, std::int64_t free) {
  RankStepRow row;
  row.step = step;
  row.member_id = member;
  row.computing_ns = computing;
  row.communication_ns = row.not_overlapped_ns = communication;
  row.free_ns = free;
  row.duration_ns = computing + communication + free;
  return row;
}

// Three ranks that compute for the given time in each step.
StepGrowth find_growth(const std::vector<std::int64_t>& computing) {
  StepGrowthFinder finder;
  std::int64_t step = 0;
  for (const std::int64_t ns : computing) {
    ++step;
    finder.add_step(std::vector{rank_step(step, 1, ns - 10, 50, 0), rank_step(step, 2, ns, 30, 10),
                                rank_step(step, 3, ns + 5, 40, 0)});
  }
  return finder.finish();
}

}  // namespace

TEST_CASE("The slope is the median of all slopes, z that of Mann and Kendall with ties") {
  // Slopes: 4, 3, 2.67, 2, 2, 1.5, 1, 1, 0, 2 -> sorted 0 1 1 1.5 2 2 2 2.67 3 4, lower middle 2.
  const std::vector<std::int64_t> values = {10, 14, 16, 18, 18};
  const Trend trend = fit_trend(values);
  CHECK(trend.slope_ns == Approx(2));
  // 9 rises of 10 pairs, one tie: variance (5*4*15 - 2*1*9) / 18.
  CHECK(trend.z == Approx(8 / std::sqrt((300.0 - 18) / 18)));
  const std::vector<std::int64_t> falling = {5, 4, 3, 2, 1};
  CHECK(fit_trend(falling).slope_ns == Approx(-1));
  CHECK(fit_trend(falling).z == Approx(-9 / std::sqrt(300.0 / 18)));
  const std::vector<std::int64_t> equal(8, 3);
  CHECK(fit_trend(equal).z == 0);
  CHECK(fit_trend(std::vector<std::int64_t>{7}).slope_ns == 0);
}

TEST_CASE("A step is as long as its slowest rank; the growing part is reported") {
  const StepGrowth growth = find_growth({1000, 1020, 1040, 1060, 1080, 1100});
  CHECK(growth.step_count == 6);
  CHECK(growth.median_ns == 1085);  // rank 3: 1045 + 40
  CHECK(growth.elapsed_ns == 1045 + 1065 + 1085 + 1105 + 1125 + 1145);
  CHECK(growth.trend.slope_ns == Approx(20));
  CHECK(growth.growth_percent == Approx(100.0 * 100 / 1085));
  CHECK(growth.is_growing);
  CHECK(growth.part == StepPart::computing);
  CHECK(growth.part_slope_ns == Approx(20));
}

TEST_CASE("Slight, unsteady and falling changes are not growth") {
  CHECK_FALSE(find_growth({1000, 1002, 1004, 1006, 1008, 1010}).is_growing);
  CHECK_FALSE(find_growth({1000, 1300, 900, 1200, 1000, 1100}).is_growing);
  CHECK_FALSE(find_growth({1500, 1400, 1300, 1200, 1100, 1000}).is_growing);
  // A first step that loads and compiles is ignored.
  CHECK_FALSE(find_growth({9000, 1000, 1001, 999, 1000, 1002}).is_growing);
  CHECK(find_growth({9000, 1000, 1100, 1200, 1300, 1400, 1500, 1600}).is_growing);
}

TEST_CASE("Growing free time is reported as such") {
  StepGrowthFinder finder;
  for (std::int64_t step = 1; step <= 8; ++step) {
    finder.add_step(std::vector{rank_step(step, 1, 1000, 100, 100 * step),
                                rank_step(step, 2, 1000, 100, 100 * step)});
  }
  CHECK(finder.finish().is_growing);
  CHECK(finder.finish().part == StepPart::free);
}

TEST_CASE("Few steps have no trend, and time outside steps is ignored") {
  CHECK_FALSE(find_growth({1000, 2000, 3000, 4000}).is_growing);
  CHECK(find_growth({1000, 2000, 3000, 4000}).growth_percent == 0);
  StepGrowthFinder finder;
  finder.add_step(std::vector{rank_step(kNull, 1, 1000, 1, 1)});
  finder.add_step({});
  CHECK(finder.finish().step_count == 0);
  CHECK(finder.finish().median_ns == kNull);
}

TEST_CASE("Very many steps are grouped, with the slope still per step") {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < 5000; ++i) steps.push_back(100'000 + 10 * i);
  const StepGrowth growth = find_growth(steps);
  CHECK(growth.trend.slope_ns == Approx(10).epsilon(0.03));
  CHECK(growth.is_growing);
}
