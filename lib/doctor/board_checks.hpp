// Checks before a run on a board: the connection and the state of the board. Used by `msprof
// doctor`. Changes nothing on the board, and takes no lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/config.hpp"
#include "board/session/info.hpp"
#include "doctor/check.hpp"
#include "doctor/project_checks.hpp"

namespace msprof {

// Facts that a board reports about itself, obtained without changing it.
struct BoardProbe {
  BoardInfo info;
  std::string existing_folder;  // existing folder above msprof's folder
  bool is_writable = false;
  std::string read_only_mount;  // read-only mount that contains that folder; empty: none
  std::optional<unsigned> umask;
  std::optional<std::int64_t> clock_s;  // since 1970
  bool has_output = false;
  bool is_output_writable = false;
  std::string busy;               // the run that holds the lock: "RUN (process 12)"; empty: none
  std::string stale_lock;         // a run whose lock holder no longer exists
  std::vector<std::string> runs;  // in runs/, without a living process
  std::vector<std::string> kept;  // recordings that were never fetched
  std::string kept_in;            // msprof's folder that contains them
  bool is_kept_apart = false;     // also in the folder of earlier versions
  std::vector<std::string> kept_on_request;  // complete runs, kept by collect --keep
  std::uint64_t own_bytes = 0;               // size of msprof's folder
  std::vector<std::string> writers;          // "12 main: /path/JOB…/data/aicore…"
  std::vector<std::string> nfs_mounts;       // "host:/folder on /folder"
  std::vector<std::string> found_libraries;  // those of the queried libraries that exist
  bool has_checked_libraries = false;
};

// Throws Error(board_unreachable) if the answer is invalid.
BoardProbe parse_board_probe(std::string_view answer);

// Checks the ini file itself: its permissions, a clear-text password, an NFS mount of the vendor's
// tool. `config` contains its parsed contents.
void check_board_file(CheckList& list, const std::filesystem::path& file,
                      const BoardConfig& config);

// Checks the board, from its address to its libraries; checks after a failed step are skipped.
// `config.login.password` must be set. Throws only Error(interrupted).
void check_board(CheckList& list, const BoardConfig& config, const ProjectInfo& project);
// Adds all checks as skipped, with the reason.
void skip_board(CheckList& list, std::string_view reason);

}  // namespace msprof
