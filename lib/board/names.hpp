// Names of files that a board tells: which of them may become files here. For the transfers.
#pragma once

#include <string>
#include <string_view>

namespace msprof {

// Why a path from a board must not be used, as the end of a sentence: "leads out of the folder".
// Empty for a relative path of plain components of at most 255 bytes.
std::string_view objection_to_board_path(std::string_view path);

// Why other kinds are refused.
inline constexpr std::string_view kLink = "is a link";
inline constexpr std::string_view kSpecialFile = "is neither a file nor a folder";

// The path without "./" in front and '/' behind, as find and tar print it; "" is the folder itself.
std::string_view plain_board_path(std::string_view path);

}  // namespace msprof
