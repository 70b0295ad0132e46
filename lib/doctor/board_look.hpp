// BoardLook: what a board tells about itself without anything being changed on it. For the checks
// of a board.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/facts.hpp"
#include "board/shell.hpp"

namespace msprof {

struct BoardQuestion {
  std::string board_dir;               // as look_at_board() takes it
  std::string output;                  // absolute folder of acl.json; empty: none
  std::vector<std::string> libraries;  // to be looked for
  std::vector<std::string> run_paths;  // where, besides the usual folders
};

struct BoardLook {
  BoardFacts facts;
  std::string existing_folder;  // that .msprof is in, or will be made in
  bool writable = false;
  std::string read_only_mount;  // that holds it; empty: none
  std::optional<unsigned> umask;
  std::optional<std::int64_t> clock_s;  // since 1970
  bool has_output = false;
  bool output_writable = false;
  std::string busy;               // the run that holds the lock, "RUN (process 12)"; empty: nobody
  std::string stale_lock;         // a run whose keeper is gone
  std::vector<std::string> runs;  // in .msprof/runs, of nobody that lives
  std::vector<std::string> kept;  // what was recorded and never brought home
  std::vector<std::string> kept_on_request;  // whole runs, of collect --keep
  std::uint64_t own_bytes = 0;               // of .msprof
  std::vector<std::string> writers;          // "12 main: /path/JOB…/data/aicore…"
  std::vector<std::string> nfs_mounts;       // "host:/folder on /folder"
  std::vector<std::string> found_libraries;  // of the question
  bool looked_for_libraries = false;
};

// Throws like BoardShell::ask; Error(board_unreachable) where the answer makes no sense.
BoardLook look_without_a_trace(BoardShell& shell, const BoardQuestion& question);
BoardLook parse_board_look(std::string_view answer);

// What the account's login shell prints before a command of ours speaks, shortened; empty: nothing.
std::string board_greeting(BoardShell& shell);

}  // namespace msprof
