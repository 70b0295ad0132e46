// Options of runs that survive a lost connection: --survive, --attach, --fetch. For the verb
// collect.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "board/ssh_host.hpp"
#include "msprof/board_options.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

// Resumes an earlier run instead of starting one.
struct ResumeArguments {
  std::optional<std::string> attach;  // empty: the only existing run
  std::optional<std::string> fetch;   // empty: the only existing run
  bool all_runs = false;              // with fetch: all finished runs

  bool is_given() const { return attach || fetch; }
  const char* name() const { return attach ? "--attach" : "--fetch"; }
};

// --survive sets BoardRunOptions::survives of `board`.
void add_survive_options(cli::Command& command, BoardArguments& board, ResumeArguments& resume);

// Throws Error(usage).
void check_survive_arguments(const ResumeArguments& resume, const BoardArguments& board,
                             bool is_cann);

// Sets the run to resume, and the command for it that is suggested to users. `given`: the options
// of the command line; those needed to find the board and the output folder again are repeated.
void set_resume(BoardRunOptions& options, const ResumeArguments& resume,
                const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace msprof
