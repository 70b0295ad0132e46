// compare(): two runs, or several a side, made into a Comparison. For `msprof compare`.
#pragma once

#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

// Both sides have at least one run, and all runs have the same TimeUnit.
Comparison compare(const std::vector<RunProfile>& base, const std::vector<RunProfile>& now);

}  // namespace msprof
