// Removes what msprof made on a board. For SshHost.
#pragma once

#include <string>

#include "board/shell.hpp"

namespace msprof {

// Never removes what is mounted there (board/nfs.hpp). Both throw Error(cannot_write).
void remove_run_folder(BoardShell& shell, const std::string& run_folder);
// `folder`: BoardInfo::folder. That of earlier versions is emptied, too. Other files in them stay:
// a user may have a folder of that name.
void remove_all_of_ours(BoardShell& shell, const std::string& folder);

}  // namespace msprof
