// The runs requested by one command line: a single one, several in sequence (--repeat), on several
// boards in parallel, or both. For the verb collect, which performs each run.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "msprof/board_options.hpp"
#include "msprof/collection.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

struct RepeatArguments {
  std::optional<long> runs;
  std::optional<long> warm_ups;
};
void add_repeat_options(cli::Command& command, RepeatArguments& arguments);

struct RunsRequest {
  std::optional<std::string> main;
  std::optional<std::string> output;
  BoardArguments board;
  RepeatArguments repeat;
  bool reads_words = false;  // typed commands start and stop the recording (--dynamic, --pid)
};

// Throws Error(usage) for conflicting options.
void check_runs(const RunsRequest& request);

// The settings that differ between the runs of one command line.
struct RunPlace {
  const NamedBoard* board = nullptr;  // null: this machine
  CollectOptions options;    // output folders and names; results of all runs as private folders
  bool cleans_board = true;  // if --clean-board requests it
};

using CollectOnce = std::function<Exit(const RunPlace& place, const CollectionPlan& plan,
                                       nlohmann::ordered_json& document)>;

// Performs all runs with `collect`. Imports for several boards share the cores. The schema of
// `document` is that of one run, of a series or of boards.
Exit collect_all(const RunsRequest& request, const CollectionPlan& plan, const CollectOnce& collect,
                 nlohmann::ordered_json& document);

}  // namespace msprof
