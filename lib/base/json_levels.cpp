#include "base/json_levels.hpp"

#include <cstddef>

namespace msprof {

namespace {

// Returns the end of the comment that starts at `at`; `at` if no comment starts there.
std::size_t find_comment_end(std::string_view json, std::size_t at) {
  const bool is_line = json.substr(at, 2) == "//";
  if (!is_line && json.substr(at, 2) != "/*") return at;
  const std::size_t end = json.find(is_line ? "\n" : "*/", at + 2);
  return end == std::string_view::npos ? json.size() : end + (is_line ? 1 : 2);
}

// Returns the end of the string whose opening quote is at `at`.
std::size_t find_text_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

}  // namespace

bool is_nested_deeper(std::string_view json, int levels) {
  int level = 0;
  std::size_t at = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = find_text_end(json, at);
      continue;
    }
    if (const std::size_t end = find_comment_end(json, at); end != at) {
      at = end;
      continue;
    }
    if ((c == '[' || c == '{') && ++level > levels) return true;
    if (c == ']' || c == '}') --level;
    ++at;
  }
  return false;
}

bool has_too_many_members(std::string_view json) {
  std::size_t members = 0;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      at = find_text_end(json, at);
      continue;
    }
    if (json[at++] == ':' && ++members > kMaxJsonMembers) return true;
  }
  return false;
}

}  // namespace msprof
