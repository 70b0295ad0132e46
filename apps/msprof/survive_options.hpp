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
  std::optional<std::string> attach;  // empty: the only run that is there
  std::optional<std::string> fetch;   // likewise
  bool all_runs = false;              // with fetch: all that have ended

  // The command goes on with an earlier run, and starts none.
  bool resumes() const { return attach.has_value() || fetch.has_value(); }
};

void add_survive_options(cli::Command& command, SurviveArguments& arguments);

// What keeps the command from doing what they ask for.
struct SurviveSurroundings {
  bool is_cann = false;
  // The first option given that belongs to a run that is started; empty: none.
  std::string option_of_start;
};
// Throws Error(usage).
void check_survive_arguments(const SurviveArguments& arguments, const BoardArguments& board,
                             const SurviveSurroundings& around);

// `given` are the options of the command line: those by which the board, and the place of the
// results, are found again are repeated in the command that users are told.
void set_survive(BoardRunOptions& options, const SurviveArguments& arguments, bool force,
                 const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace msprof
