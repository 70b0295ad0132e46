// SideProfile: the runs of one side, operator by operator. For compare().
#pragma once

#include <map>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/noise.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

struct SideProfile {
  ComparedSide facts;
  Measured total;
  std::vector<OpProfile> ops;  // those of the first run, then what only later ones have
  std::vector<Measured> op_times;
  std::vector<std::int64_t> op_counts;  // of all runs
  struct Call {
    Measured time;
    std::int64_t count = 0;
  };
  std::map<std::string, Call> calls;
  double largest_ratio = 1;
};

SideProfile merge_runs(const std::vector<RunProfile>& runs);

}  // namespace msprof
