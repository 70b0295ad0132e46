// How deep a JSON text from outside is nested: copies of a deep document, and its text, are made by
// recursion. For whoever reads JSON that comes with a capture.
#pragma once

#include <string_view>

namespace msprof {

// What no document of ours, of a board or of a user comes near.
inline constexpr int kMaxJsonLevels = 100;

// True if its arrays and objects are nested deeper than `levels`. Comments count for nothing; text
// that is no JSON gets any answer.
bool is_nested_deeper(std::string_view json, int levels = kMaxJsonLevels);

}  // namespace msprof
