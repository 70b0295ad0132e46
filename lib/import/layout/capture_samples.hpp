// Data files of captures as samples for the search, with what layer.info, info.json, `.done` and a
// file of shapes say. For `msprof layout`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/layout/layout_finder.hpp"
#include "session/session.hpp"

namespace msprof::layout {

// Bytes that a layer must read and write at least, by its name.
struct LayerShape {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};
using LayerShapes = std::map<std::string, LayerShape>;

// {"layers": [{"name": "conv1", "weight_bytes": 864, "input_bytes": …, "output_bytes": …}]}. Throws
// Error(usage) that names `file`.
LayerShapes parse_model_info(const std::string& json, const std::string& file);

// Adds the files of `session` that have no header of ours; nothing for a capture of another
// dialect. Reads a bounded part of each, and of a bounded number of them.
void add_samples(const Session& session, const LayerShapes& shapes, BoardSamples& samples);

}  // namespace msprof::layout
