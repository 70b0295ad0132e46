// SideProfile combines the runs of one side. Times are in us per execution.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/noise_floor.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

// The runs of one side, by operator.
struct SideProfile {
  ComparedSide info;
  Measured total;
  std::vector<OpProfile> ops;  // operators of the first run, then those only in later runs
  std::vector<Measured> op_times;
  std::vector<std::int64_t> op_counts;  // sum over all runs
  struct Call {
    Measured time;
    std::int64_t count = 0;
  };
  std::map<std::string, Call> calls;
  std::map<std::string, Call> ranges;
  double largest_ratio = 1;
};

SideProfile merge_runs(const std::vector<RunProfile>& runs);

}  // namespace msprof
