// What machine a program is built for, from the first bytes of the file. For SshHost, which says so
// before anything is uploaded.
#pragma once

#include <string>
#include <string_view>

namespace msprof {

inline constexpr std::size_t kElfHeadBytes = 20;

// Empty where a board on which `board_head` runs may run `program_head` too (also where either is
// no ELF file); else what the two are: "AArch64, and the board runs ARM". A board that did not show
// a program of its own is judged by `machine`, its `uname -m`: a shell there would read a program
// that it cannot run as a script.
std::string why_not_for_board(std::string_view program_head, std::string_view board_head,
                              std::string_view machine = "");

}  // namespace msprof
