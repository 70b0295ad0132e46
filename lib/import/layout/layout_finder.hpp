// Finds the record layouts of a board from data files alone, by looking for values that repeat,
// rise, cycle or depend on each other. Used by `msprof layout`. Source: layout_method.md 2 to 4.
#pragma once

#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/samples.hpp"

namespace msprof::layout {

// Data files of one board, from one or more captures. All files of a kind have the same layout.
struct BoardSamples {
  std::vector<FileSample> aicore;
  std::vector<FileSample> aicpu;
  std::vector<FileSample> acl_api;
};

InferredLayout find_layouts(const BoardSamples& samples);

}  // namespace msprof::layout
