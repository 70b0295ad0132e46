// Limits the nesting of untrusted JSON: copying and printing a document recurse. For every reader
// of JSON that comes with a capture.
#pragma once

#include <string_view>

namespace msprof {

// Far above the depth of any document that msprof, a board or a user writes.
inline constexpr int kMaxJsonLevels = 100;

// Returns true if arrays and objects are nested deeper than `levels`. Brackets in comments do not
// count. For text that is not JSON the result is unspecified.
bool is_nested_deeper(std::string_view json, int levels = kMaxJsonLevels);

}  // namespace msprof
