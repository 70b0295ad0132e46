// BoardInfo: the result of probing a board. Used by the board host and its transfers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/shell.hpp"
#include "board/session/steps.hpp"

namespace msprof {

struct BoardInfo {
  std::string system;            // uname -s: "Linux"
  std::string release;           // uname -r: "4.19.90"; empty: unknown
  std::string machine;           // uname -m: "aarch64"
  std::string product;           // from its device tree: "HiSilicon SS928V100"; empty: unknown
  std::uint64_t cores = 0;       // 0: unknown
  std::string home;              // the account's home folder, absolute
  std::string folder;            // <board_dir>/msprof, absolute
  std::uint64_t free_bytes = 0;  // free space for files below `folder`
  bool has_tar = false;
  bool has_sftp = false;
  bool may_have_sftp = false;  // SFTP was queried but has not answered yet
  bool has_stat = false;       // stat -c works: listings have sizes and times
  bool has_setsid = false;
  std::string checksum;      // available tool: "sha256sum" or "cksum"; empty: neither
  std::string program_head;  // first bytes of a program on the board (its ELF header)

  // "Linux aarch64, 1.2 GB free in /root/msprof, tar, SFTP"
  std::string in_one_line() const;
};

// Prefix for scripts; $1 is board_dir. Sets $ours, msprof's folder on the board, and $old, the
// folder of earlier versions. The name of $ours is part of the output path in acl.json, for which
// the manual allows only letters, digits and '_'. If board_dir itself is named .msprof, it is used
// as $ours.
extern const std::string_view kFindFolder;
// Returns msprof's folder and that of earlier versions for a BoardInfo::folder; only one if they
// are the same.
std::vector<std::string> find_own_folders(const std::string& folder);
// Follows kFindFolder and prints facts about the board, one per line: "name value".
extern const std::string_view kInfoScript;

// kFreeFunction defines `free_of FOLDER` for scripts, which prints "free KB"; parse_free_line()
// returns the value of such a line in bytes.
extern const std::string_view kFreeFunction;
std::optional<std::uint64_t> parse_free_line(std::string_view line);

// Parses the output of the probe; throws Error(board_unreachable) if it is invalid.
BoardInfo parse_board_info(std::string_view answer);

// Converts "7f 45 4c 46 …", as printed by od(1), to bytes; returns an empty string if invalid.
std::string parse_hex(std::string_view text);

// A probe in progress. Creates <board_dir>/msprof. An empty `board_dir` is the account's home
// folder, and a relative one is below it.
class InfoQuestion {
 public:
  // Sends the query without waiting for the answer if the board runs commands concurrently.
  InfoQuestion(BoardShell& shell, const std::string& board_dir);
  ~InfoQuestion();
  InfoQuestion(const InfoQuestion&) = delete;
  InfoQuestion& operator=(const InfoQuestion&) = delete;

  // Waits for the facts. Does not wait for SFTP, which is rarely used if tar and stat exist: then
  // sets `may_have_sftp`. Throws Error(cannot_write) with the board's reason if the folder cannot
  // be created.
  BoardInfo facts();
  // Waits until SFTP is probed.
  void find_sftp(BoardInfo& info);
  // Repeats the queries that were pending on the lost connection.
  void reconnected();

 private:
  BoardShell& shell_;
  std::string out_;
  std::string err_;
  std::unique_ptr<CommandPump> pump_;
  std::unique_ptr<SftpFiles> sftp_;
};

// Free space for files below `folder`; throws like BoardShell::ask.
std::uint64_t board_free_bytes(BoardShell& shell, const std::string& folder);

// board_free_bytes() as one of several steps, and the parser of its answer.
BoardStep free_step(const std::string& folder);
std::uint64_t free_bytes_in(const BoardShell& shell, const std::string& folder,
                            const BoardAnswer& answer);

}  // namespace msprof
