// Layers out of the board's own layer.info, a slice of its model file whose encoding is not public.
// For the layer.info kind, which marks what comes from here as guessed, and the search for layouts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/svp/svp_models.hpp"

namespace msprof::svp {

// (type, name) pairs in the order of the file: a string that is a known layer type, and the string
// behind it. Empty where that is not plausible.
std::vector<std::pair<std::string, std::string>> guess_layers(std::string_view bytes);

// Layers of the text of a layer.info, in the reference form or guessed; damaged lines are left out.
std::vector<Layer> read_layers(std::string_view text);

}  // namespace msprof::svp
