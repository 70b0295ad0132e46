// Finds frames whose executions have headers. Source: layout_method.md 2.
#pragma once

#include <vector>

#include "import/layout/columns.hpp"
#include "import/layout/record_frames.hpp"

namespace msprof::layout {

// Frames of records of this size with a header before each execution; empty if there are none.
std::vector<Frame> block_frames(const std::vector<FileSample>& samples, std::size_t record_bytes,
                                const LayerCodes& codes);

}  // namespace msprof::layout
