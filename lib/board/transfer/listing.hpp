// Listings of folder trees on a board: the script, the parser of its answer, the listing over SFTP,
// and the rules for names that may become local files. Used by the transfers. The answers of a
// board are untrusted; invalid entries are counted as refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/info.hpp"
#include "board/session/shell.hpp"
#include "board/transfer/transfer.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// File in a run's output folder with the location of its drained files.
inline constexpr std::string_view kDrainNote = ".drained";

// Returns the sum of two sizes from a board; stops at 2^64 - 1 instead of overflowing.
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return b > ~a ? ~std::uint64_t{0} : a + b;
}

// Returns the reason why a path from a board must not be used, as the end of a sentence: "leads out
// of the folder". Empty for a relative path of plain components of at most 255 bytes.
std::string_view objection_to_board_path(std::string_view path);

// Returns true for a path without "..", empty components, control characters or a leading '/'.
bool is_acceptable_board_path(std::string_view path);

// Reasons for refusing entries that are not files or folders.
inline constexpr std::string_view kLink = "is a link";
inline constexpr std::string_view kSpecialFile = "is neither a file nor a folder";

// Removes and returns the next line of `text`, without its line end. Lines are read one at a time
// because an answer can have millions.
std::string_view take_line(std::string_view& text);
// The same for the text up to the next blank.
std::string_view take_word(std::string_view& line);

// Removes the leading "./" and the trailing '/' that find and tar print; "" is the folder itself.
std::string_view plain_board_path(std::string_view path);

// Parses the output of the scripts, one entry per line:
//   s <mode, hex> <size> <mtime> <ctime> <inode> <name>    from `stat`
//   l <mode, as "-rw-r--r--"> <size> <name>                from `ls -ln` if there is no stat
//   @refused                                               a name with control characters
//   @end                                                   the answer is complete
// Throws Error(partial_data) if the last line is missing, TooMuchSent for more than
// kMaxListedEntries.
TreeListing parse_board_listing(std::string_view answer);

// Lists `paths` (accepted by is_acceptable_board_path(), or "." for everything) and their contents,
// relative to `folder`. Throws Error(partial_data) if the board cannot list them.
TreeListing list_by_shell(BoardShell& shell, bool has_stat, const std::string& folder,
                          const std::vector<std::string>& paths);
// list_by_shell() as one of several steps, and the parser of its answer.
BoardStep listing_step(bool has_stat, const std::string& folder,
                       const std::vector<std::string>& paths);
// For a board whose facts are not known yet: lists everything below `folder`, which need not exist.
// Fails if the board has no stat.
BoardStep first_listing_step(const std::string& folder);
TreeListing listing_in(const BoardShell& shell, const std::string& folder,
                       const BoardAnswer& answer);
TreeListing list_by_sftp(SftpFiles& sftp, const std::string& folder,
                         const std::vector<std::string>& paths);

// The script itself, for tests: $1 is the folder; the paths are on stdin, one per line, prefixed
// with "./".
BoardScript listing_script(bool has_stat);

}  // namespace msprof
