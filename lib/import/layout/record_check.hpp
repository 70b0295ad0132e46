// Checks whether an explanation explains all records of whole files. Source: layout_method.md 6.
#pragma once

#include <cstddef>
#include <vector>

#include "import/layout/explanation.hpp"

namespace msprof::layout {

struct RecordCheck {
  std::size_t explained = 0;
  std::size_t unexplained = 0;
};

RecordCheck check_records(const Explanation& one, const LayerCodes& codes,
                          const std::vector<FileSample>& samples);

// Returns true if other bytes can be read like the records of the explanation. These are then parts
// of others; or a tag is no record type, but for example a core. Also returns true if the records
// that a tag leaves out name the layers that the others lack.
bool leaves_out_layers(const Explanation& one, const LayerCodes& codes,
                       const std::vector<FileSample>& samples);

}  // namespace msprof::layout
