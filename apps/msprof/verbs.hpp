// The verbs of msprof (verbs.def). Each function adds one command, with its options and action, to
// the tree.
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

#define VERB(name) void add_##name##_command(cli::Command& root);
#include "msprof/verbs.def"
#undef VERB

// The whole tree, as main() and the tests see it.
std::unique_ptr<cli::Command> build_command_tree();

}  // namespace msprof
