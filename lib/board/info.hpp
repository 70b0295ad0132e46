// BoardInfo: what a probe of a board reports. For the board host and its transfers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/shell.hpp"
#include "board/steps.hpp"

namespace msprof {

struct BoardInfo {
  std::string system;            // uname -s: "Linux"
  std::string release;           // uname -r: "4.19.90"; empty: unknown
  std::string machine;           // uname -m: "aarch64"
  std::string product;           // of its device tree: "HiSilicon SS928V100"; empty: unknown
  std::uint64_t cores = 0;       // 0: unknown
  std::string home;              // the account's home folder, absolute
  std::string folder;            // <board_dir>/msprof, absolute
  std::uint64_t free_bytes = 0;  // for files below `folder`
  bool has_tar = false;
  bool has_sftp = false;
  bool may_have_sftp = false;  // it was asked and has not answered yet
  bool has_stat = false;       // stat -c, for listings with sizes and times
  bool has_setsid = false;
  std::string checksum;      // "sha256sum" or "cksum", whichever it has; empty: neither
  std::string program_head;  // the first bytes of a program of the board, an ELF header

  // "Linux aarch64, 1.2 GB free in /root/msprof, tar, SFTP"
  std::string in_one_line() const;
};

// For scripts that start with it: $1 is board_dir. Sets $ours, the board's folder of ours, and
// $old, the one of earlier versions. Its name is part of the output path of acl.json, in which the
// manual allows letters, digits and '_' only. A board_dir named .msprof is the folder of ours
// itself.
extern const std::string_view kFindFolder;
// Both, for a BoardInfo::folder: once where that is the one of earlier versions.
std::vector<std::string> folders_of_ours(const std::string& folder);
// Behind that, the script that prints them. One fact a line, "name value".
extern const std::string_view kInfoScript;

// `free_of FOLDER` prints "free KB", for scripts; and what such a line says in bytes.
extern const std::string_view kFreeFunction;
std::optional<std::uint64_t> parse_free_line(std::string_view line);

// Parses the output of the probe; throws Error(board_unreachable) if it makes no sense.
BoardInfo parse_board_info(std::string_view answer);

// "7f 45 4c 46 …", as od(1) prints it, as bytes; empty where it is none.
std::string parse_hex(std::string_view text);

// The question for them, while it is under way; it makes <board_dir>/msprof (`board_dir` empty:
// the account's home folder; relative: below it).
class InfoQuestion {
 public:
  // Asks, and waits for nothing where the board runs commands side by side.
  InfoQuestion(BoardShell& shell, const std::string& board_dir);
  ~InfoQuestion();
  InfoQuestion(const InfoQuestion&) = delete;
  InfoQuestion& operator=(const InfoQuestion&) = delete;

  // Waits for the facts, but not for SFTP, with which little is done where there are tar and stat:
  // `may_have_sftp` is set then. Throws Error(cannot_write) with the board's reason if the folder
  // cannot be made.
  BoardInfo facts();
  // Waits for SFTP, too.
  void find_sftp(BoardInfo& info);
  // What was asked of the connection before is asked anew.
  void reconnected();

 private:
  BoardShell& shell_;
  std::string out_;
  std::string err_;
  std::unique_ptr<CommandPump> pump_;
  std::unique_ptr<SftpFiles> sftp_;
};

// Probes, and waits for all of it.
BoardInfo probe_board(BoardShell& shell, const std::string& board_dir);

// Free space for files below `folder`; throws like BoardShell::ask.
std::uint64_t board_free_bytes(BoardShell& shell, const std::string& folder);

// The same as one of several questions, and its answer.
BoardStep free_step(const std::string& folder);
std::uint64_t free_bytes_in(const BoardShell& shell, const std::string& folder,
                            const BoardAnswer& answer);

}  // namespace msprof
