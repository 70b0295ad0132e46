// Finds the remaining fields of layer records: execution, unit cycles, bytes. Source:
// layout_method.md 4.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/samples.hpp"

namespace msprof::layout {

// A record of a layer.
struct LayerRecord {
  Place place;
  std::size_t layer = 0;      // index into FileSample::layers
  std::size_t execution = 0;  // number of previous executions in this file
};

// Fills the fields of `kind` that are neither layer nor time. `total`: offset of the total cycles;
// empty if unknown. `taken`: bytes of the record used by known fields.
void find_counters(std::span<const LayerRecord> records, std::optional<std::size_t> total,
                   bool is_framed, std::vector<bool>& taken, FoundKind& kind);

}  // namespace msprof::layout
