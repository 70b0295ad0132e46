// Extracts the comments of source files, for the test of citations.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

enum class CommentStyle {
  slashes,  // C, C++, JavaScript
  hash      // CMake, shell, Python
};

// Decides by name: "x.cpp", "CMakeLists.txt", a script without extension; empty for files without
// comments.
std::optional<CommentStyle> comment_style(const std::filesystem::path& file);

// A comment, or several comments on consecutive lines, joined by '\n' and without comment marks.
struct Comment {
  std::size_t line = 0;  // line of its start, from 1
  std::string text;
};

// Ignores comment marks within quotes.
std::vector<Comment> read_comments(std::string_view source, CommentStyle style);

}  // namespace msprof::test
