// Removes msprof's files from a board. Used by SshHost.
#pragma once

#include <string>

#include "board/session/shell.hpp"

namespace msprof {

// Both never remove files on a mounted share (board/disk/nfs.hpp), and throw Error(cannot_write).
void remove_run_folder(BoardShell& shell, const std::string& run_folder);
// `folder`: BoardInfo::folder. Also empties the folder of earlier versions. Keeps other files in
// them: a user may have a folder of that name.
void remove_all_of_ours(BoardShell& shell, const std::string& folder);

}  // namespace msprof
