// The verbs of msprof. Each function adds one command, with its options and action, to the tree.
#pragma once

#include "msprof/command_line.hpp"

namespace msprof {

// -q and -v, the same on every verb; apply_verbosity() is the first thing an action does.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity(cli::Command& command, Verbosity& verbosity);
void apply_verbosity(const Verbosity& verbosity);

void add_collect_command(cli::Command& root);
void add_import_command(cli::Command& root);
void add_export_command(cli::Command& root);
void add_show_command(cli::Command& root);
void add_query_command(cli::Command& root);
void add_compare_command(cli::Command& root);
void add_advise_command(cli::Command& root);
void add_doctor_command(cli::Command& root);
void add_completion_command(cli::Command& root);

// The whole tree, as main() and the tests see it.
std::unique_ptr<cli::Command> build_command_tree();

}  // namespace msprof
