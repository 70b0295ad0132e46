#include "msprof/survive_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::array kRepeated = {"--config", "--host", "--key",        "--host-key", "--jump",
                                  "--output", "--all",  "--ssh-config", "--board-dir"};

}  // namespace

void add_survive_options(cli::Command& command, SurviveArguments& arguments) {
  command.add_option(
      {"--survive", &arguments.survive, "",
       "keep the run alive if the connection drops, until --timeout, or for 24 h without a "
       "connection; stdin is empty, and output is kept on the board up to a limit"});
  cli::Option attach = {"--attach", &arguments.attach, "RUN",
                        "continue with a --survive run: print its further output, wait for its "
                        "end, fetch the results (default: the only run)"};
  attach.is_value_optional = true;
  command.add_option(std::move(attach));
  cli::Option fetch = {"--fetch", &arguments.fetch, "RUN",
                       "fetch the results of an earlier run from the board, without waiting "
                       "(default: the only run)"};
  fetch.is_value_optional = true;
  command.add_option(std::move(fetch));
  command.add_option({"--all-runs", &arguments.all_runs, "",
                      "with --fetch: fetch all runs on the board that have ended"});
}

void check_survive_arguments(const SurviveArguments& arguments, const BoardArguments& board,
                             const SurviveSurroundings& around) {
  if (arguments.all_runs && (!arguments.fetch || !arguments.fetch->empty()))
    throw Error(Exit::usage, "--all-runs needs --fetch without a run name");
  if (!arguments.survive && !arguments.resumes()) return;
  const char* const name = arguments.survive  ? "--survive"
                           : arguments.attach ? "--attach"
                                              : "--fetch";
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong) throw Error(Exit::usage, fmt::format("{}: {}", name, why));
  };
  refuse(!board.names_board(), "a board is required: add --config FILE or --host user@ip");
  refuse(around.is_cann, "it works on boards only; --cann runs end with their connection");
  refuse(board.tty, "the run has no terminal: remove --tty");
  refuse(board.names_several(), "it works with a single board only: start msprof once per board");
  refuse(board.drain || board.nfs || board.leave,
         "it cannot be combined with --drain, --nfs or --leave, which end with the connection");
  refuse(arguments.survive && arguments.resumes(),
         "--survive starts a run, --attach and --fetch continue one: give only one of them");
  refuse(arguments.attach && arguments.fetch,
         "it waits for the run, --fetch does not: give only one of them");
  refuse(arguments.resumes() && !around.option_of_start.empty(),
         fmt::format("{} applies only when a run is started: remove it", around.option_of_start));
}

void set_survive(BoardRunOptions& options, const SurviveArguments& arguments, bool force,
                 const std::vector<std::pair<std::string, std::string>>& given) {
  options.survives = arguments.survive;
  for (const auto& [name, value] : given) {
    if (std::find(kRepeated.begin(), kRepeated.end(), name) == kRepeated.end()) continue;
    options.resume_words += (options.resume_words.empty() ? "" : " ") + name;
    if (name != "--all") options.resume_words += " " + shell_word(value);
  }
  if (!arguments.resumes()) return;
  const bool waits = arguments.attach.has_value();
  options.resume = RunChoice{waits ? *arguments.attach : *arguments.fetch, waits, force};
}

}  // namespace msprof
