// The runs that one command line asks for: one, several one after the other (--repeat), on several
// boards at the same time, or both. For the verb collect, which makes each of them.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

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
  bool reads_words = false;  // what is typed starts and stops the recording (--dynamic, --pid)
};

// Throws Error(usage) for what does not go together.
void check_runs(const RunsRequest& request);

// What differs between the runs of one command line.
struct RunPlace {
  const NamedBoard* board = nullptr;  // null: this machine
  std::optional<std::string> output;
  std::string name_suffix;                            // of captures
  std::string failed_folder;                          // see CollectOptions
  std::vector<std::filesystem::path> result_folders;  // of this and other runs; never copied
  bool cleans_board = true;                           // where --clean-board asks for it
};

using CollectOnce = std::function<Exit(const RunPlace& place, const CollectionPlan& plan,
                                       nlohmann::ordered_json& document)>;

// Makes all with `collect`. Imports on several boards share the cores. The schema of `document` is
// that of one run, of a series or of boards.
Exit collect_all(const RunsRequest& request, const CollectionPlan& plan, const CollectOnce& collect,
                 nlohmann::ordered_json& document);

}  // namespace msprof
