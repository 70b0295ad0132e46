// What somebody who mistyped a name may have meant. For messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Those of `names` that `word` resembles, the nearest first, at most three; none where nothing is
// near. Upper and lower case are the same.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names);

// "; did you mean a, b or c?"; empty where nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace msprof
