// Collects data files of captures as samples for the layout search, with facts from layer.info,
// info.json, `.done` files and a file of shapes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/layout/layout_finder.hpp"
#include "session/session.hpp"

namespace msprof::layout {

// Minimum number of bytes that a layer must read and write.
struct LayerShape {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};
using LayerShapes = std::map<std::string, LayerShape>;

// Parses {"layers": [{"name": "conv1", "weight_bytes": 864, "input_bytes": …, "output_bytes": …}]}.
// Keys are layer names. Throws Error(usage) that names `file`.
LayerShapes parse_model_info(const std::string& json, const std::string& file);

// Adds the files of `session` whose format is not ours. Does nothing for a capture of another
// dialect. Reads a limited number of files, and a limited part of each.
void add_samples(const Session& session, const LayerShapes& shapes, BoardSamples& samples);

}  // namespace msprof::layout
