// Listings of trees on a board: the script that asks, the reader of its answer, the listing over
// SFTP, and the rule which names of a board may become files here. For the transfers. A board may
// answer anything; what makes no sense is counted as refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "board/info.hpp"
#include "board/shell.hpp"
#include "board/transfer.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// Reason why a path from a board must not be used, as the end of a sentence: "leads out of the
// folder". Empty for a relative path of plain components of at most 255 bytes.
std::string_view objection_to_board_path(std::string_view path);

// True for such a path: without "..", empty components, control characters or a leading '/'.
bool is_acceptable_board_path(std::string_view path);

// Reason why other kinds are refused.
inline constexpr std::string_view kLink = "is a link";
inline constexpr std::string_view kSpecialFile = "is neither a file nor a folder";

// Takes the next line off `text`, without its end. Answers of a board may be of millions of lines:
// nobody splits them all.
std::string_view take_line(std::string_view& text);

// The path without "./" in front and '/' behind, as find and tar print it; "" is the folder itself.
std::string_view plain_board_path(std::string_view path);

// Parses the output of the scripts, a line each:
//   s <mode, hex> <size> <mtime> <ctime> <inode> <name>    of `stat`
//   l <mode, as "-rw-r--r--"> <size> <name>                of `ls -ln`, where there is no stat
//   @refused                                               a name with control characters
//   @end                                                   the answer is whole
// Throws Error(partial_data) where the last line is missing, TooMuchSent for more than
// kMaxListedEntries.
TreeListing parse_board_listing(std::string_view answer);

// Lists `paths` (acceptable ones, or "." for everything) and what they hold, relative to `folder`.
// Throws Error(partial_data) where the board cannot list them.
TreeListing list_by_shell(BoardShell& shell, bool has_stat, const std::string& folder,
                          const std::vector<std::string>& paths);
// The same as one of several questions, and its answer.
BoardStep listing_step(bool has_stat, const std::string& folder,
                       const std::vector<std::string>& paths);
// Of a board that is not known yet: everything below `folder`, which need not be there. Fails where
// the board has no stat.
BoardStep first_listing_step(const std::string& folder);
TreeListing listing_in(const BoardShell& shell, const std::string& folder,
                       const BoardAnswer& answer);
TreeListing list_by_sftp(SftpFiles& sftp, const std::string& folder,
                         const std::vector<std::string>& paths);

// The scripts themselves, for their tests: $1 is the folder, the paths come on stdin, a line each,
// with "./" in front.
BoardScript listing_script(bool has_stat);

}  // namespace msprof
