// Folders, links and the removal of what is in the way, by the board's shell: what every way of
// sending needs besides the bytes of files. For the ways of BoardTransfer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "board/shell.hpp"
#include "board/transfer.hpp"

namespace msprof {

// Lists of names go to a board a line each; a name that has a line break itself cannot.
bool is_one_line(const std::string& name);

// Removes what stands where an entry will be, except a folder for a folder, and never through a
// link; so no earlier version stands for a file that then cannot be sent. Throws
// Error(cannot_write) with the board's reason, as all of these.
void make_room(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries);

// make_room(), then the folders and links of `entries`. What is not one line is warned of and noted
// as not sent.
void make_tree(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries, SendReport& report);

// Error(cannot_write): the board, the folder, the reason and the space that is free there.
[[noreturn]] void throw_board_cannot_write(BoardShell& shell, const std::string& folder,
                                           const std::string& reason);

}  // namespace msprof
