// Finds the remaining fields of layer records: execution, unit cycles, bytes. Source:
// layout_method.md 4.
#pragma once

#include <span>

#include "import/layout/inferred_layout.hpp"
#include "import/layout/record_grid.hpp"

namespace msprof::layout {

// Fills the fields of `kind` that are neither layer nor time. `taken`: bytes of the record used by
// known fields. `first`: start of a record, relative to its layer number. `is_framed`: the record
// positions are certain.
void find_counters(std::span<const LayerRecord> records, const SpanFields& spans,
                   std::ptrdiff_t first, bool is_framed, std::vector<bool>& taken, FoundKind& kind);

}  // namespace msprof::layout
