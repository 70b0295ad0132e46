#include "analyze/compare/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/compare/run_profile.hpp"

namespace msprof {

namespace {

constexpr double kSingleRunPart = 0.05;
constexpr double kMads = 3;
constexpr double kManyRunsPart = 0.02;
constexpr std::size_t kManyRuns = 6;
// An operator that changes by less of an execution does not matter.
constexpr double kNegligiblePart = 0.01;
// Operators drift more than their sum: measured with scripts/compare-noise.
constexpr double kOpDrift = 2;

double level(const Measured& base, const Measured& now) {
  return std::max(base.us(), now.us());
}

double range(const std::vector<double>& runs) {
  if (runs.size() < 2) return 0;
  const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
  return *most - *least;
}

double squares(const std::vector<double>& runs) {
  double sum = 0, result = 0;
  for (const double us : runs) sum += us;
  const double mean = runs.empty() ? 0 : sum / static_cast<double>(runs.size());
  for (const double us : runs) result += (us - mean) * (us - mean);
  return result;
}

// Student's t, two sides, 99.9 %.
double student(std::size_t freedom) {
  static constexpr std::array kFrom4 = {8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587,
                                        4.437, 4.318, 4.221, 4.140, 4.073, 4.015};
  if (freedom < 4) return 12.924;
  return freedom - 4 < kFrom4.size() ? kFrom4[freedom - 4] : kFrom4.back();
}

std::size_t run_count(const Measured& base, const Measured& now) {
  return base.runs_us.size() + now.runs_us.size();
}

bool has_many_runs(const Measured& base, const Measured& now) {
  return run_count(base, now) >= kManyRuns;
}

double by_many_runs(const Measured& base, const Measured& now) {
  // The median of runs varies by a quarter more than their mean.
  constexpr double kMedianFactor = 1.2533;
  if (base.runs_us.empty() || now.runs_us.empty()) return 0;
  const std::size_t freedom = run_count(base, now) - 2;
  const double variance =
      (squares(base.runs_us) + squares(now.runs_us)) / static_cast<double>(freedom);
  const double sides = 1.0 / static_cast<double>(base.runs_us.size()) +
                       1.0 / static_cast<double>(now.runs_us.size());
  return student(freedom) * kMedianFactor * std::sqrt(variance * sides);
}

double by_few_runs(const Measured& base, const Measured& now) {
  const double ranges = 2 * std::max(range(base.runs_us), range(now.runs_us));
  return std::max(
      {kSingleRunPart * level(base, now), kMads * std::max(base.mad_us, now.mad_us), ranges});
}

}  // namespace

double Measured::us() const {
  return median_of(runs_us);
}

double total_noise_us(const Measured& base, const Measured& now) {
  if (!has_many_runs(base, now)) return by_few_runs(base, now);
  return std::max(kManyRunsPart * level(base, now), by_many_runs(base, now));
}

std::string noise_basis(const Measured& base, const Measured& now) {
  if (has_many_runs(base, now)) {
    return fmt::format(
        "{} and {} runs: the larger of 2 % and what their spread leaves to chance with 99.9 %"
        " confidence ({:.3f} ms)",
        base.runs_us.size(), now.runs_us.size(), by_many_runs(base, now) / 1000);
  }
  const double mad = std::max(base.mad_us, now.mad_us);
  std::string text = fmt::format(
      "the larger of 5 % and 3 x the MAD of the execution times ({:.3f} ms)", kMads * mad / 1000);
  if (run_count(base, now) == 2) return "one run a side: " + text;
  return fmt::format(
      "{} and {} runs: {} and twice the largest difference between two runs of a side ({:.3f} ms);"
      " six runs or more tell smaller changes",
      base.runs_us.size(), now.runs_us.size(), text,
      2 * std::max(range(base.runs_us), range(now.runs_us)) / 1000);
}

double op_noise_us(const Measured& base, const Measured& now, const Measured& base_total,
                   const Measured& now_total) {
  const double whole = level(base_total, now_total);
  const double drift =
      whole > 0 ? kOpDrift * total_noise_us(base_total, now_total) / whole * level(base, now) : 0;
  const double own = has_many_runs(base, now) ? by_many_runs(base, now) : by_few_runs(base, now);
  return std::max({own, drift, kNegligiblePart * whole});
}

double call_noise_us(const Measured& base, const Measured& now, double calls_per_execution,
                     const Measured& base_total, const Measured& now_total) {
  double floor = op_noise_us(base, now, {}, {});
  const double whole = level(base_total, now_total);
  if (whole > 0)
    floor = std::max(floor, total_noise_us(base_total, now_total) / whole * level(base, now));
  // What all its calls of an execution take together is what may matter.
  if (calls_per_execution > 0)
    floor = std::max(floor, kNegligiblePart * whole / calls_per_execution);
  return floor;
}

}  // namespace msprof
