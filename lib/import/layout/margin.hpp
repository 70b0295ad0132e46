// How far the best explanation is ahead of the others. Source: layout_method.md 6.
#pragma once

#include <vector>

#include "import/layout/explanation.hpp"

namespace msprof::layout {

// The same numbers for start and span, though perhaps in other units, or paired with the layers of
// other records.
bool has_same_times(const Explanation& a, const Explanation& b);
// Bits by which the header of `a` is more likely, if the records are the same.
double lead_of_header(const Explanation& a, const Explanation& b);
// Starts that have bytes in common, but are not the same ones.
bool is_shifted(const Explanation& a, const Explanation& b);
// Of two that are shifted, `a` has aligned fields and explains about as much.
bool is_better_aligned(const Explanation& a, const Explanation& b);

// How far an explanation is ahead of all others that give other rows.
struct Margin {
  bool is_clear = false;         // of readings
  bool is_header_known = false;  // of headers
  bool is_header_clear = false;  // of headers that decide whether the last record is whole
};
Margin margin_of(const std::vector<Explanation>& all, const std::vector<FileSample>& samples,
                 const LayerCodes& codes);

}  // namespace msprof::layout
