// Checks before a run on a board: the way there and what is there. For `msprof doctor`. Nothing is
// changed on the board, and no lock is taken.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/config.hpp"
#include "board/info.hpp"
#include "doctor/check.hpp"
#include "doctor/project_checks.hpp"

namespace msprof {

// Facts that a board reports about itself without anything being changed on it.
struct BoardProbe {
  BoardInfo info;
  std::string existing_folder;  // that msprof's folder is in, or will be made in
  bool writable = false;
  std::string read_only_mount;  // that holds it; empty: none
  std::optional<unsigned> umask;
  std::optional<std::int64_t> clock_s;  // since 1970
  bool has_output = false;
  bool output_writable = false;
  std::string busy;               // the run that holds the lock, "RUN (process 12)"; empty: none
  std::string stale_lock;         // a run whose lease holder is gone
  std::vector<std::string> runs;  // in runs/, of no living process
  std::vector<std::string> kept;  // what was recorded and never fetched
  std::string kept_in;            // the folder of ours that has them
  bool is_kept_apart = false;     // the folder of earlier versions has some, too
  std::vector<std::string> kept_on_request;  // whole runs, of collect --keep
  std::uint64_t own_bytes = 0;               // of our folder
  std::vector<std::string> writers;          // "12 main: /path/JOB…/data/aicore…"
  std::vector<std::string> nfs_mounts;       // "host:/folder on /folder"
  std::vector<std::string> found_libraries;  // of the question
  bool checked_libraries = false;
};

// Throws Error(board_unreachable) where the answer makes no sense.
BoardProbe parse_board_probe(std::string_view answer);

// Checks the ini file itself: its permissions, a password in clear text, an NFS mount of the
// vendor's tool. `config` has its contents.
void check_board_file(CheckList& list, const std::filesystem::path& file,
                      const BoardConfig& config);

// Checks about the board, from its address to its libraries; what comes after a failed step is
// skipped. `config.login.password` must be set. Throws Error(interrupted) alone.
void check_board(CheckList& list, const BoardConfig& config, const ProjectInfo& project);
// Adds all of them as skipped, with the reason.
void skip_board(CheckList& list, std::string_view reason);

}  // namespace msprof
