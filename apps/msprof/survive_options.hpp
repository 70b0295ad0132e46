// Options of runs that survive a lost connection: --survive, --attach, --fetch. For the verb
// collect.
#pragma once

#include <optional>
#include <string>

#include "board/ssh_host.hpp"
#include "msprof/board_options.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

struct SurviveArguments {
  bool survive = false;
  std::optional<std::string> attach;  // empty: the only existing run
  std::optional<std::string> fetch;   // empty: the only existing run
  bool all_runs = false;              // with fetch: all finished runs

  // Returns true if the command resumes an earlier run instead of starting one.
  bool resumes() const { return attach.has_value() || fetch.has_value(); }
};

void add_survive_options(cli::Command& command, SurviveArguments& arguments);

// Other options that may conflict with these.
struct SurviveSurroundings {
  bool is_cann = false;
  // The first given option that requires a newly started run; empty if there is none.
  std::string option_of_start;
};
// Throws Error(usage).
void check_survive_arguments(const SurviveArguments& arguments, const BoardArguments& board,
                             const SurviveSurroundings& around);

// `given`: the options of the command line. Those needed to find the board and the output folder
// again are repeated in the command suggested to users.
void set_survive(BoardRunOptions& options, const SurviveArguments& arguments, bool force,
                 const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace msprof
