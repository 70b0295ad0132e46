#include "board/names.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "board/transfer.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMostComponent = 255;  // NAME_MAX

bool has_control_characters(std::string_view path) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  if (std::any_of(path.begin(), path.end(), is_control)) return true;
  // The control characters above ASCII; other encodings use their bytes for letters.
  return is_valid_utf8(path) && printable(path) != path;
}

}  // namespace

std::string_view objection_to_board_path(std::string_view path) {
  if (path.starts_with('/')) return "is absolute";
  if (has_control_characters(path)) return "has control characters";
  for (const std::string_view component : split(path, '/')) {
    if (component.empty()) return "has an empty name";
    if (component == "..") return "leads out of the folder";
    if (component == ".") return "has a '.' for a name";
    if (component.size() > kMostComponent) return "has a name of more than 255 bytes";
  }
  return "";
}

std::string_view plain_board_path(std::string_view path) {
  while (path.starts_with("./")) {
    path.remove_prefix(2);
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path == "." ? "" : path;
}

bool is_acceptable_board_path(std::string_view path) {
  return objection_to_board_path(path).empty();
}

}  // namespace msprof
