// The verbs of msprof (verbs.def). Each function adds one command, with its options and action, to
// the tree.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "msprof/command_line.hpp"

namespace msprof {

// Options -q and -v, the same for every verb. Every action calls apply_verbosity() first.
struct Verbosity {
  bool quiet = false;
  bool verbose = false;
};
void add_verbosity(cli::Command& command, Verbosity& verbosity);
void apply_verbosity(const Verbosity& verbosity);

// Throws Error(usage) if --limit or --offset of a verb is out of range.
void check_row_window(const std::optional<long>& limit, const std::optional<long>& offset);

#define VERB(name) void add_##name##_command(cli::Command& root);
#include "msprof/verbs.def"
#undef VERB

// Adds the hidden command that writes the man pages.
void add_man_pages_command(cli::Command& root);

// Action of `collect --all` for a fetched capture; adds its part of --json to `report`.
using ProcessCapture =
    std::function<Exit(const std::filesystem::path& capture, nlohmann::json* report)>;
// Adds collect. `process` replaces import and export if it is not null; `grace_seconds`, if set,
// replaces the default of WaitLimits.
void add_collect_command(cli::Command& root, ProcessCapture process,
                         std::optional<double> grace_seconds = std::nullopt);

// The complete tree, for main() and the tests.
std::unique_ptr<cli::Command> build_command_tree();

}  // namespace msprof
