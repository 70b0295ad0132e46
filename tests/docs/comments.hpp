// Comments of source files, for the test of citations.
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

// By name: "x.cpp", "CMakeLists.txt", a script without extension; empty for files without comments.
std::optional<CommentStyle> comment_style(const std::filesystem::path& file);

// One comment, or several on lines behind each other; '\n' between the lines, their marks taken
// off.
struct Comment {
  std::size_t line = 0;  // of its beginning, from 1
  std::string text;
};

// What is in quotes is no comment.
std::vector<Comment> comments_of(std::string_view source, CommentStyle style);

}  // namespace msprof::test
