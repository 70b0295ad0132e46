// Words of messages: counts and lists in sentences, and suggestions for a mistyped name.
// For every module with messages to users.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Counted thing: `many` is the plural; empty: `one` with an s.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = "");
// The word alone, where the count stands elsewhere.
std::string word_for(std::uint64_t count, std::string_view one, std::string_view many = "");

// "a", "a and b", "a, b and c".
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

// Those of `names` that `word` resembles, the nearest first, at most three; none where nothing is
// near. Upper and lower case are the same.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names);

// "; did you mean a, b or c?"; empty where nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> names);

}  // namespace msprof
