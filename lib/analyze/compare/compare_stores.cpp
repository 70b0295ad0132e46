#include "analyze/compare/compare_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <tuple>

#include "analyze/compare/compare.hpp"

namespace msprof {

namespace {

// Iterations that hold less of the operators' time say little of a run.
constexpr double kMostOutside = 0.5;

using Runs = std::vector<ComparedRun>;

using Units = std::vector<TimeUnit>;

Units units_of(const Runs& runs) {
  Units units;
  for (const ComparedRun& run : runs) units.push_back(natural_unit(run.store));
  return units;
}

bool any_is_whole(const Units& units) {
  return std::find(units.begin(), units.end(), TimeUnit::whole_run) != units.end();
}

// Why whole runs are compared although there are iterations; empty where they are not.
std::string why_whole(const Runs& base, const Runs& now, const Units& base_units,
                      const Units& new_units) {
  const bool base_whole = any_is_whole(base_units), new_whole = any_is_whole(new_units);
  if (base_whole && new_whole) return "";
  if (base_whole || new_whole) {
    return fmt::format("only {} has executions or iterations: whole runs are compared",
                       base_whole ? "NEW" : "BASE");
  }
  for (const auto& [runs, units] : {std::tie(base, base_units), std::tie(now, new_units)}) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (units[i] != TimeUnit::iteration) continue;
      const ComparedRun& run = runs[i];
      const double outside = outside_iterations(run.store);
      if (outside <= kMostOutside) continue;
      return fmt::format(
          "{} has {:.0f} % of its operators' time outside of all iterations: whole runs are"
          " compared",
          run.capture, 100 * outside);
    }
  }
  return "";
}

// Executions of several batches do not do the same work: they are compared picture by picture.
void split_batches(const Runs& base, const Runs& now, Units& base_units, Units& new_units) {
  std::vector<Batches> batches;
  for (const auto& [runs, units] : {std::tie(base, base_units), std::tie(now, new_units)}) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (units[i] != TimeUnit::execution) return;
      batches.push_back(read_batches(QueryDb(runs[i].store)));
    }
  }
  const bool alike = std::all_of(batches.begin(), batches.end(), [&](const Batches& one) {
    return execute_alike(batches.front(), one);
  });
  if (alike) return;
  base_units.assign(base.size(), TimeUnit::picture);
  new_units.assign(now.size(), TimeUnit::picture);
}

std::vector<RunProfile> read_runs(const Runs& runs, const Units& units) {
  std::vector<RunProfile> profiles;
  for (std::size_t i = 0; i < runs.size(); ++i)
    profiles.push_back(read_run(runs[i].store, runs[i].capture, runs[i].is_partial, units[i]));
  return profiles;
}

}  // namespace

Comparison compare_stores(const Runs& base, const Runs& now) {
  Units base_units = units_of(base), new_units = units_of(now);
  const std::string reason = why_whole(base, now, base_units, new_units);
  const bool as_whole = any_is_whole(base_units) || any_is_whole(new_units) || !reason.empty();
  if (as_whole) {
    base_units.assign(base.size(), TimeUnit::whole_run);
    new_units.assign(now.size(), TimeUnit::whole_run);
  }
  split_batches(base, now, base_units, new_units);
  // A large capture takes seconds; the sides have nothing in common.
  auto other = std::async(std::launch::async, [&] { return read_runs(now, new_units); });
  const auto base_runs = read_runs(base, base_units);
  Comparison result = compare(base_runs, other.get());
  if (!reason.empty()) result.warnings.push_back({reason});
  return result;
}

}  // namespace msprof
