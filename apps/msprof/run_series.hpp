// Several runs in sequence (--repeat), whose captures form one side of `msprof compare`. For the
// verb collect.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "session/run_record.hpp"

namespace msprof {

struct SeriesPlan {
  int runs = 1;
  int warm_ups = 1;  // run first, in a separate folder
  std::filesystem::path output;
  std::string name;        // of the executable
  bool names_next = true;  // print the `compare` command to use
};

// Settings of one run.
struct SeriesRun {
  RunRepeat repeat;
  std::filesystem::path folder;                       // of its captures
  std::vector<std::filesystem::path> series_folders;  // of this series and earlier ones
  std::string name_suffix;                            // of captures
  bool is_last = false;
};

// Performs one run and fills its part of the --json document.
using MakeRun = std::function<Exit(const SeriesRun& run, nlohmann::ordered_json& document)>;

// Creates a folder <output>/<name>.runs with the captures of the runs and, in warm-up/, those of
// the warm-up runs. A failed run does not stop the others; Ctrl-C and an Error, which is rethrown,
// do. Prints a table of the runs and the command that compares them. Returns the most severe
// result.
Exit run_series(const SeriesPlan& plan, const MakeRun& make, nlohmann::ordered_json& document);

}  // namespace msprof
