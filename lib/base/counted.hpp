// Counts in sentences: "1 execution", "60 executions". For every room that tells users how many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

// `many` is what more than one is called; empty: `one` with an s.
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

}  // namespace msprof
