// The search for the record layouts of a board, from data files alone: what is in them repeats,
// rises, cycles and follows, and says so. For `msprof layout`. layout_method.md 2 to 4.
#pragma once

#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/samples.hpp"

namespace msprof::layout {

// Data files of one board, of one or several captures: all of a kind have one layout.
struct BoardSamples {
  std::vector<Sample> aicore;
  std::vector<Sample> aicpu;
  std::vector<Sample> acl_api;
};

InferredLayout find_layouts(const BoardSamples& samples);

}  // namespace msprof::layout
