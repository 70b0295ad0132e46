// The other numbers of layer records: execution, unit cycles, bytes. For layout_finder.
// layout_method.md 4.
#pragma once

#include <span>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/record_grid.hpp"

namespace msprof::layout {

// Fills the fields of `kind` that are neither layer nor time. `taken`: bytes of the record that
// known fields have; `first`: where records begin, from the layer number. `is_framed`: that is
// certain.
void find_counters(std::span<const LayerRecord> records, const SpanFields& spans,
                   std::ptrdiff_t first, bool is_framed, std::vector<bool>& taken, FoundKind& kind);

}  // namespace msprof::layout
