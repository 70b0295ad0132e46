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
  command.add_option({"--survive", &arguments.survive, "",
                      "the run goes on when the connection is lost, until --timeout, without one "
                      "for 24 h that nobody follows it; its stdin is empty, and what it prints is "
                      "kept on the board, to a limit"});
  cli::Option attach = {"--attach", &arguments.attach, "RUN",
                        "go on with a run of --survive: show what it prints from where that "
                        "stopped, wait for its end, fetch its results (default RUN: the only one)"};
  attach.value_optional = true;
  command.add_option(std::move(attach));
  cli::Option fetch = {"--fetch", &arguments.fetch, "RUN",
                       "fetch what an earlier run left on the board, without waiting (default "
                       "RUN: the only one)"};
  fetch.value_optional = true;
  command.add_option(std::move(fetch));
  command.add_option({"--all-runs", &arguments.all_runs, "",
                      "with --fetch: fetch every run left on the board that has ended"});
}

void check_survive_arguments(const SurviveArguments& arguments, const BoardArguments& board,
                             const SurviveSurroundings& around) {
  if (arguments.all_runs && (!arguments.fetch || !arguments.fetch->empty()))
    throw Error(Exit::usage, "--all-runs goes with --fetch, without the name of a run");
  if (!arguments.survive && !arguments.resumes()) return;
  const char* const name = arguments.survive  ? "--survive"
                           : arguments.attach ? "--attach"
                                              : "--fetch";
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong) throw Error(Exit::usage, fmt::format("{}: {}", name, why));
  };
  refuse(!board.names_board(), "this needs a board; give --config FILE or --host user@ip");
  refuse(around.is_cann, "this is for boards; runs of --cann end with their connection");
  refuse(board.tty, "the run has no terminal: leave --tty out");
  refuse(board.names_several(), "this is for one board: start msprof once for each");
  refuse(board.drain || board.sink || board.nfs || board.leave,
         "the recording stays on the board until the end; --drain, --sink, --nfs and --leave end "
         "with the connection");
  refuse(arguments.survive && arguments.resumes(),
         "--survive starts a run, --attach and --fetch go on with one: give one of them");
  refuse(arguments.attach && arguments.fetch,
         "this waits for the run and --fetch does not: give one of them");
  refuse(arguments.resumes() && !around.option_of_start.empty(),
         fmt::format("{} belongs to a run that is started: leave it out", around.option_of_start));
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
