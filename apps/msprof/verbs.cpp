#include "msprof/verbs.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "msprof/application_line.hpp"

namespace msprof {

void add_verbosity(cli::Command& command, Verbosity& verbosity) {
  command.add_option({"-q,--quiet", &verbosity.quiet, "", "only warnings and errors"});
  command.add_option({"-v,--verbose", &verbosity.verbose, "", "also report each step"});
}

void apply_verbosity(const Verbosity& verbosity) {
  if (verbosity.quiet) log::set_level(log::Level::quiet);
  if (verbosity.verbose) log::set_level(log::Level::verbose);
}

void check_row_window(const std::optional<long>& limit, const std::optional<long>& offset) {
  if (limit && *limit < 1)
    throw Error(Exit::usage, fmt::format("--limit: expected a number >= 1, got {}", *limit));
  if (offset && *offset < 0)
    throw Error(Exit::usage, fmt::format("--offset: expected a number >= 0, got {}", *offset));
}

std::unique_ptr<cli::Command> build_command_tree() {
  auto root = std::make_unique<cli::Command>(
      "msprof",
      "Profiler for HiSilicon SVP and Huawei Ascend NPUs: collect a run, import its raw data, "
      "export and show timelines and tables, find problems and compare runs.");
  root->set_examples(
      "  msprof collect -m main --all          profile ./main on this machine, then import and "
      "export\n"
      "  msprof collect -m main --config board.ini --all   on a board, over SSH\n"
      "  msprof --application=\"python3 main.py\" --msproftx=on   an application on CANN, "
      "profiled,\n"
      "                                        imported, exported, with advice; or: msprof "
      "main.py\n"
      "  msprof doctor -m main --config board.ini          check the requirements of that run\n"
      "  msprof import -dir JOBXXX             raw data to JOBXXX/sqlite/msprof.db, with a "
      "verdict\n"
      "  msprof import -dir PROF_XXX           the same for a capture of an Atlas machine\n"
      "  msprof export timeline -dir JOBXXX    chrome-trace JSON for chrome://tracing and "
      "Perfetto\n"
      "  msprof export summary --format csv    tables of the newest capture in this folder\n"
      "  msprof show --top 10                  the hottest layers in the terminal\n"
      "  msprof advise -dir JOBXXX             what makes it slow, and how to fix it\n"
      "  msprof compare JOBAAA JOBBBB          what changed between two runs\n"
      "  msprof query -dir PROF_XXX            its devices, models, iterations and products");
  add_application_options(*root);
#define VERB(name) add_##name##_command(*root);
#include "msprof/verbs.def"
#undef VERB
  add_man_pages_command(*root);
  return root;
}

}  // namespace msprof
