// Finds corresponding operators of two runs: by name, by fusion, by type and shapes.
#pragma once

#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

// Indices of operators in the two lists: one per side, several for a fusion, or empty.
struct OpMatch {
  std::vector<std::size_t> base;
  std::vector<std::size_t> now;
  MatchedBy by = MatchedBy::unmatched;
};

// Each operator of both lists is in exactly one match. Sorted by `base`; operators only in `now`
// come last.
std::vector<OpMatch> match_ops(const std::vector<OpProfile>& base,
                               const std::vector<OpProfile>& now);

}  // namespace msprof
