// Ranks columns that may name layers. Source: layout_method.md 3.
#pragma once

#include <cstddef>
#include <vector>

#include "import/layout/columns.hpp"

namespace msprof::layout {

struct RankedLayer {
  const LayerColumn* column = nullptr;
  bool is_doubtful = false;  // another column names other layers as well
};

// The columns that name layers, the best first. `all`: number of layers of the model.
std::vector<RankedLayer> rank_layers(const std::vector<LayerColumn>& layers, std::size_t all);

}  // namespace msprof::layout
