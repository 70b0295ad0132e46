// Listings of trees on a board: the script that asks, the reader of its answer, and the same over
// SFTP. For BoardTransfer. A board may answer anything; what makes no sense is counted as refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "board/facts.hpp"
#include "board/shell.hpp"
#include "board/transfer.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// What the scripts print, a line each:
//   s <mode, hex> <size> <mtime> <ctime> <inode> <name>    of `stat`
//   l <mode, as "-rw-r--r--"> <size> <name>                of `ls -ln`, where there is no stat
//   @refused                                               a name with control characters
//   @end                                                   the answer is whole
// Throws Error(partial_data) where the last line is missing.
TreeListing parse_board_listing(std::string_view answer);

// `paths` (acceptable ones, or "." for everything) and what they hold, relative to `folder`.
// Throws Error(partial_data) where the board cannot list them.
TreeListing list_by_shell(BoardShell& shell, bool has_stat, const std::string& folder,
                          const std::vector<std::string>& paths);
TreeListing list_by_sftp(SftpFiles& sftp, const std::string& folder,
                         const std::vector<std::string>& paths);

// The scripts themselves, for their tests: $1 is the folder, the paths come on stdin, a line each,
// with "./" in front.
BoardScript listing_script(bool has_stat);

}  // namespace msprof
