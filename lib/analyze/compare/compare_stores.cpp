#include "analyze/compare/compare_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "analyze/compare/compare.hpp"

namespace msprof {

namespace {

// Iterations that hold less of the operators' time say little of a run.
constexpr double kMostOutside = 0.5;

using Runs = std::vector<ComparedRun>;

bool any_is_whole(const Runs& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) {
    return natural_unit(run.store) == TimeUnit::whole_run;
  });
}

// Why whole runs are compared although there are iterations; empty where they are not.
std::string why_whole(const Runs& base, const Runs& now, bool base_whole, bool new_whole) {
  if (base_whole && new_whole) return "";
  if (base_whole || new_whole) {
    return fmt::format("only {} has executions or iterations: whole runs are compared",
                       base_whole ? "NEW" : "BASE");
  }
  for (const Runs* side : {&base, &now}) {
    for (const ComparedRun& run : *side) {
      if (natural_unit(run.store) != TimeUnit::iteration) continue;
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

std::vector<RunProfile> read_runs(const Runs& runs, bool as_whole) {
  std::vector<RunProfile> profiles;
  for (const ComparedRun& run : runs) {
    const TimeUnit unit = as_whole ? TimeUnit::whole_run : natural_unit(run.store);
    profiles.push_back(read_run(run.store, run.capture, run.is_partial, unit));
  }
  return profiles;
}

}  // namespace

Comparison compare_stores(const Runs& base, const Runs& now) {
  const bool base_whole = any_is_whole(base), new_whole = any_is_whole(now);
  const std::string reason = why_whole(base, now, base_whole, new_whole);
  const bool as_whole = base_whole || new_whole || !reason.empty();
  // A large capture takes seconds; the sides have nothing in common.
  auto other = std::async(std::launch::async, [&] { return read_runs(now, as_whole); });
  const auto base_runs = read_runs(base, as_whole);
  Comparison result = compare(base_runs, other.get());
  if (!reason.empty()) result.warnings.push_back(reason);
  return result;
}

}  // namespace msprof
