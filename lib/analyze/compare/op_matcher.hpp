// Which operators of two runs are the same thing: by name, by fusion, by type and shapes.
// For compare().
#pragma once

#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/run_profile.hpp"

namespace msprof {

// Operators by their places in the lists given; one on a side, several of a fusion, or none.
struct OpMatch {
  std::vector<std::size_t> base;
  std::vector<std::size_t> now;
  MatchedBy by = MatchedBy::unmatched;
};

// Every operator of both lists is in exactly one match. In the order of `base`, then what is only
// in `now`.
std::vector<OpMatch> match_ops(const std::vector<OpProfile>& base,
                               const std::vector<OpProfile>& now);

}  // namespace msprof
