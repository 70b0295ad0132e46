// What makes two sides hard to compare. For compare().
#pragma once

#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

// The gravest first.
std::vector<ComparisonWarning> comparison_warnings(const std::vector<RunProfile>& base,
                                                   const std::vector<RunProfile>& now);

}  // namespace msprof
