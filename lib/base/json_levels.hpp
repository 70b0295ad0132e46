// Limits untrusted JSON before it is parsed. Copying and printing a document recurse, so nesting is
// limited for every reader of JSON that comes with a capture. nlohmann::ordered_json compares each
// member with all others of its object, so its readers limit the members, too.
#pragma once

#include <cstddef>
#include <string_view>

namespace msprof {

// Far above the depth of any document that msprof, a board or a user writes.
inline constexpr int kMaxJsonLevels = 100;

// Returns true if arrays and objects are nested deeper than `levels`. Brackets in comments do not
// count. For text that is not JSON the result is unspecified.
bool is_nested_deeper(std::string_view json, int levels = kMaxJsonLevels);

inline constexpr std::size_t kMaxJsonMembers = 20'000;

// Returns true if the objects have more than kMaxJsonMembers members together.
bool has_too_many_members(std::string_view json);

}  // namespace msprof
