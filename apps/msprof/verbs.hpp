// The verbs of msprof (verbs.def). Each function adds one command, with its options and action, to
// the tree.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "msprof/command_line.hpp"

namespace msprof {

// Options -q and -v, the same on every verb; apply_verbosity() is the first thing an action does.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity(cli::Command& command, Verbosity& verbosity);
void apply_verbosity(const Verbosity& verbosity);

#define VERB(name) void add_##name##_command(cli::Command& root);
#include "msprof/verbs.def"
#undef VERB

// Action of `collect --all` on a fetched capture; `report` gets its part of --json.
using ProcessCapture =
    std::function<Exit(const std::filesystem::path& capture, nlohmann::json* report)>;
// Makes collect with another way to process captures than import and export (null), and another
// grace than that of WaitLimits (empty).
void add_collect_command(cli::Command& root, ProcessCapture process,
                         std::optional<double> grace_seconds = std::nullopt);

// The whole tree, as main() and the tests see it.
std::unique_ptr<cli::Command> build_command_tree();

}  // namespace msprof
