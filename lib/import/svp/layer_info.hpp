// Reads layers from a layer.info. On a board the file is part of the model file, in an undocumented
// encoding; layers guessed from it are marked as guessed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/svp/svp_models.hpp"

namespace msprof::svp {

// Returns (type, name) pairs in file order: a string that is a known layer type, and the string
// after it. Empty if the result is not plausible.
std::vector<std::pair<std::string, std::string>> guess_layers(std::string_view bytes);

// Returns the layers of a layer.info in either format. Damaged lines are left out.
std::vector<SvpLayer> read_layers(std::string_view text);

}  // namespace msprof::svp
