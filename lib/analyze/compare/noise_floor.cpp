#include "analyze/compare/noise_floor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/compare/run_profile.hpp"

namespace msprof {

namespace {

// Determined with scripts/compare-noise: runs of one model on a machine that compiles at the same
// time. Medians differ by up to 60 %, fastest executions by up to 7 %; the fastest times of single
// operators by up to 16 %, at 1.7 % of an execution.
constexpr double kSingleRunPart = 0.05;
constexpr double kMads = 3;
constexpr double kManyRunsPart = 0.02;
constexpr std::size_t kManyRuns = 6;
constexpr double kDriftPart = 0.08;
constexpr double kOpPart = 0.10;
constexpr double kNegligiblePart = 0.02;
// At least a third of a change must also appear in the fastest executions.
constexpr double kUnconfirmed = 1.5;

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

// Student's t, two-sided, 99.9 %.
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
  // The standard error of a median is 1.2533 times that of a mean.
  constexpr double kMedianFactor = 1.2533;
  if (base.runs_us.empty() || now.runs_us.empty()) return 0;
  const std::size_t freedom = run_count(base, now) - 2;
  const double variance =
      (squares(base.runs_us) + squares(now.runs_us)) / static_cast<double>(freedom);
  const double sides = 1.0 / static_cast<double>(base.runs_us.size()) +
                       1.0 / static_cast<double>(now.runs_us.size());
  return student(freedom) * kMedianFactor * std::sqrt(variance * sides);
}

double by_few_runs(const Measured& base, const Measured& now, double part) {
  const double ranges = 2 * std::max(range(base.runs_us), range(now.runs_us));
  return std::max({part * level(base, now), kMads * std::max(base.mad_us, now.mad_us), ranges});
}

// Raises `floor` unless the fastest executions confirm the change. Their change must exceed both
// `part` of their time and `least_us`.
double confirmed(const Measured& base, const Measured& now, double floor, double part,
                 double least_us) {
  if (base.runs_us.empty() || now.runs_us.empty()) return floor;
  const double change = now.us() - base.us();
  const double fastest = now.fastest_us - base.fastest_us;
  const double least = std::max(part * std::max(base.fastest_us, now.fastest_us), least_us);
  const bool is_confirmed = std::abs(fastest) > least && (fastest > 0) == (change > 0);
  return std::max(floor,
                  is_confirmed ? kUnconfirmed * std::abs(change - fastest) : std::abs(change));
}

}  // namespace

double Measured::us() const {
  return median(runs_us);
}

void Measured::add_run(double us, double mad, double fastest) {
  fastest_us = runs_us.empty() ? fastest : std::min(fastest_us, fastest);
  runs_us.push_back(us);
  mad_us = std::max(mad_us, mad);
}

void Measured::add_part(const Measured& part) {
  if (runs_us.size() < part.runs_us.size()) runs_us.resize(part.runs_us.size(), 0);
  for (std::size_t i = 0; i < part.runs_us.size(); ++i) runs_us[i] += part.runs_us[i];
  mad_us = std::hypot(mad_us, part.mad_us);
  fastest_us += part.fastest_us;
}

NoiseFloor::NoiseFloor(Measured base, Measured now)
    : base_(std::move(base)), now_(std::move(now)) {}

double NoiseFloor::whole_us() const {
  return level(base_, now_);
}

// Returns the noise of an execution as a fraction of its time.
double NoiseFloor::own_part() const {
  const double floor = has_many_runs(base_, now_) ? by_many_runs(base_, now_)
                                                  : by_few_runs(base_, now_, kSingleRunPart);
  return whole_us() > 0 ? floor / whole_us() : 0;
}

double NoiseFloor::total_us(bool some_operator_changed) const {
  if (has_many_runs(base_, now_)) return std::max(kManyRunsPart, own_part()) * whole_us();
  const double part = some_operator_changed ? kSingleRunPart : kDriftPart;
  return confirmed(base_, now_, std::max(part, own_part()) * whole_us(), part, 0);
}

double NoiseFloor::op_us(const Measured& base, const Measured& now, Correspondence as) const {
  // An operator on only one side is a real change.
  if (base.runs_us.empty() || now.runs_us.empty()) return 0;
  const double drift = own_part() * level(base, now);
  if (has_many_runs(base_, now_)) {
    const double floor = std::max(kManyRunsPart * level(base, now), drift);
    if (as == Correspondence::other) return floor;
    return std::max({floor, by_many_runs(base, now), kNegligiblePart / 2 * whole_us()});
  }
  if (as == Correspondence::other)
    return confirmed(base, now, std::max(drift, by_few_runs(base, now, kSingleRunPart)), 0, 0);
  const double least = kNegligiblePart * whole_us();
  const double floor = std::max({drift, by_few_runs(base, now, kOpPart), least});
  return confirmed(base, now, floor, kOpPart,
                   kNegligiblePart * std::max(base_.fastest_us, now_.fastest_us));
}

double NoiseFloor::call_us(const Measured& base, const Measured& now,
                           double calls_per_execution) const {
  const double part = std::max(kSingleRunPart, own_part());
  double floor = by_few_runs(base, now, part);
  // A call matters only by its total time per execution.
  if (calls_per_execution > 0)
    floor = std::max(floor, kNegligiblePart * whole_us() / calls_per_execution);
  return confirmed(base, now, floor, part, 0);
}

double NoiseFloor::range_us(const Measured& base, const Measured& now,
                            double ranges_per_execution) const {
  const double part = std::max(kSingleRunPart, own_part());
  const double factor_part = part / (1 + part);
  double floor = by_few_runs(base, now, factor_part);
  if (ranges_per_execution > 0)
    floor = std::max(floor, kNegligiblePart * whole_us() / ranges_per_execution);
  return confirmed(base, now, floor, factor_part, 0);
}

double counter_noise(const Measured& base, const Measured& now, double least) {
  if (has_many_runs(base, now))
    return std::max({kManyRunsPart * level(base, now), by_many_runs(base, now), least});
  return std::max(by_few_runs(base, now, kOpPart), least);
}

std::string NoiseFloor::basis() const {
  const std::size_t ours = base_.runs_us.size(), theirs = now_.runs_us.size();
  if (has_many_runs(base_, now_)) {
    return fmt::format(
        "{} and {} runs: the larger of 2 % and the 99.9 % confidence interval from the spread of "
        "the runs ({:.3f} ms)",
        ours, theirs, by_many_runs(base_, now_) / 1000);
  }
  std::string text = fmt::format("the larger of 5 % and 3 x the MAD of the times ({:.3f} ms)",
                                 kMads * std::max(base_.mad_us, now_.mad_us) / 1000);
  if (ours + theirs > 2) {
    text += fmt::format(
        ", and twice the largest difference between two runs of BASE or of NEW ({:.3f} ms)",
        2 * std::max(range(base_.runs_us), range(now_.runs_us)) / 1000);
  }
  const std::string runs =
      ours + theirs == 2 ? "one run each" : fmt::format("{} and {} runs", ours, theirs);
  return fmt::format(
      "{}: {}; larger if the fastest executions ({:.3f} and {:.3f} ms) or the operators do not "
      "confirm a change",
      runs, text, base_.fastest_us / 1000, now_.fastest_us / 1000);
}

}  // namespace msprof
