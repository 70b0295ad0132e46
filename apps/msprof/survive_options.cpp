#include "msprof/survive_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::array kRepeated = {"--config", "--host", "--key",        "--host-key", "--jump",
                                  "--output", "--all",  "--ssh-config", "--board-dir"};

}  // namespace

void add_survive_options(cli::Command& command, BoardArguments& board, ResumeArguments& resume) {
  command.add_option(
      {"--survive", &board.run.survives, "",
       "keep the run alive if the connection drops, until --timeout, or for 24 h without a "
       "connection; stdin is empty, and output is kept on the board up to a limit"});
  cli::Option attach = {"--attach", &resume.attach, "RUN",
                        "continue with a --survive run: print its further output, wait for its "
                        "end, fetch the results (default: the only run)"};
  attach.is_value_optional = true;
  command.add_option(std::move(attach));
  cli::Option fetch = {"--fetch", &resume.fetch, "RUN",
                       "fetch the results of an earlier run from the board, without waiting "
                       "(default: the only run)"};
  fetch.is_value_optional = true;
  command.add_option(std::move(fetch));
  command.add_option({"--all-runs", &resume.all_runs, "",
                      "with --fetch: fetch all runs on the board that have ended"});
}

void check_survive_arguments(const ResumeArguments& resume, const BoardArguments& board,
                             bool is_cann) {
  if (resume.all_runs && (!resume.fetch || !resume.fetch->empty()))
    throw Error(Exit::usage, "--all-runs needs --fetch without a run name");
  const bool survives = board.run.survives;
  if (!survives && !resume.is_given()) return;
  const char* const name = survives ? "--survive" : resume.name();
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong) throw Error(Exit::usage, fmt::format("{}: {}", name, why));
  };
  refuse(!board.names_board(), "a board is required: add --config FILE or --host user@ip");
  refuse(is_cann, "it works on boards only; --cann runs end with their connection");
  refuse(board.tty, "the run has no terminal: remove --tty");
  refuse(board.names_several(), "it works with a single board only: start msprof once per board");
  refuse(board.run.drain.on || !board.run.nfs.empty() || board.run.leave.on,
         "it cannot be combined with --drain, --nfs or --leave, which end with the connection");
  refuse(survives && resume.is_given(),
         "--survive starts a run, --attach and --fetch continue one: give only one of them");
  refuse(resume.attach && resume.fetch,
         "it waits for the run, --fetch does not: give only one of them");
}

void set_resume(BoardRunOptions& options, const ResumeArguments& resume,
                const std::vector<std::pair<std::string, std::string>>& given) {
  for (const auto& [name, value] : given) {
    if (std::find(kRepeated.begin(), kRepeated.end(), name) == kRepeated.end()) continue;
    options.resume_words += (options.resume_words.empty() ? "" : " ") + name;
    if (name != "--all") options.resume_words += " " + shell_word(value);
  }
  if (!resume.is_given()) return;
  const bool waits = resume.attach.has_value();
  options.resume = RunChoice{waits ? *resume.attach : *resume.fetch, waits, options.force};
}

}  // namespace msprof
