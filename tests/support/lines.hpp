// Helpers to examine text. For tests of the output of commands.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace msprof::test {

// `text` may be a JSON string.
template <typename Text>
bool contains(const Text& text, std::string_view part) {
  if constexpr (std::is_convertible_v<const Text&, std::string_view>) {
    return std::string_view(text).find(part) != std::string_view::npos;
  } else {
    return text.template get_ref<const std::string&>().find(part) != std::string::npos;
  }
}

// Counts the occurrences of `part` in `text`.
inline std::size_t count_occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

inline std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace msprof::test
