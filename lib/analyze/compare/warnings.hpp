// What makes two sides hard to compare. For compare().
#pragma once

#include <string>
#include <vector>

#include "analyze/compare/run_profile.hpp"

namespace msprof {

// A sentence each, the gravest first.
std::vector<std::string> comparison_warnings(const std::vector<RunProfile>& base,
                                             const std::vector<RunProfile>& now);

}  // namespace msprof
