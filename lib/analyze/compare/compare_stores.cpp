#include "analyze/compare/compare_stores.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/compare/compare.hpp"

namespace msprof {

namespace {

// Iterations that hold less of the operators' time say little of a run.
constexpr double kMostOutside = 0.5;

using Runs = std::vector<ComparedRun>;
using Profiles = std::vector<RunProfile>;

bool any_is_whole(const Runs& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) {
    return natural_unit(run.store) == TimeUnit::whole_run;
  });
}

Profiles read_runs(const Runs& runs, bool as_whole) {
  Profiles profiles;
  for (const ComparedRun& run : runs) {
    const TimeUnit unit = as_whole ? TimeUnit::whole_run : natural_unit(run.store);
    profiles.push_back(read_run(run.store, run.capture, run.is_partial, unit));
  }
  return profiles;
}

const RunProfile* mostly_outside(const Profiles& profiles) {
  const auto found = std::find_if(profiles.begin(), profiles.end(), [](const RunProfile& run) {
    return run.outside_share > kMostOutside;
  });
  return found == profiles.end() ? nullptr : &*found;
}

}  // namespace

Comparison compare_stores(const Runs& base, const Runs& now) {
  std::string why_whole;
  const bool base_whole = any_is_whole(base), new_whole = any_is_whole(now);
  if (base_whole != new_whole) {
    why_whole = fmt::format("only {} has executions or iterations: whole runs are compared",
                            base_whole ? "NEW" : "BASE");
  }
  const bool as_whole = base_whole || new_whole;
  Profiles base_runs = read_runs(base, as_whole), new_runs = read_runs(now, as_whole);
  const RunProfile* outside = mostly_outside(base_runs);
  if (outside == nullptr) outside = mostly_outside(new_runs);
  if (outside != nullptr) {
    why_whole = fmt::format(
        "{} has {:.0f} % of its operators' time outside of all iterations: whole runs are compared",
        outside->capture, 100 * outside->outside_share);
    base_runs = read_runs(base, true);
    new_runs = read_runs(now, true);
  }
  Comparison result = compare(base_runs, new_runs);
  if (!why_whole.empty()) result.warnings.push_back(why_whole);
  return result;
}

}  // namespace msprof
