// Phrases for messages: counts, lists, and suggestions for mistyped names. Used by every module
// that prints messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Returns the count with its noun. `many` is the plural; default: `one` plus "s".
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = "");
// Returns only the noun, for a count that appears elsewhere.
std::string word_for(std::uint64_t count, std::string_view one, std::string_view many = "");

// Returns "a", "a and b", "a, b and c".
template <typename Texts>
std::string listed(const Texts& texts, std::string_view last = "and") {
  std::string list;
  std::size_t left = texts.size();
  for (const auto& text : texts) {
    if (!list.empty()) list += left == 1 ? " " + std::string(last) + " " : std::string(", ");
    list += text;
    --left;
  }
  return list;
}

// Returns at most three of `names` that resemble `word`, nearest first; empty if no name is close.
// Ignores ASCII case.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names);

// Returns "; did you mean a, b or c?"; empty if no name is close.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace msprof
