// Removes msprof's files from a board. Used by SshHost.
#pragma once

#include <string>

#include "board/session/shell.hpp"

namespace msprof {

// Both functions never remove files on a mounted share (board/disk/nfs.hpp). They throw
// Error(cannot_write).
void remove_run_folder(BoardShell& shell, const std::string& run_folder);
// `folder`: BoardInfo::folder. Also empties the folder of earlier versions. Keeps files that are
// not msprof's: a user may have a folder of that name.
void remove_all_of_ours(BoardShell& shell, const std::string& folder);

}  // namespace msprof
