// Several runs of the same thing, one after the other (--repeat), whose captures are a side for
// `msprof compare`. For the verb collect.
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
  int warm_ups = 1;  // before them, kept apart
  std::filesystem::path output;
  std::string name;        // of the executable
  bool names_next = true;  // says the command that compares
};

// Where and as what one of them is made. Captures of runs that fail have a folder of their own, so
// that `folder` holds what can be compared.
struct SeriesRun {
  RunRepeat repeat;
  std::filesystem::path folder;                       // of its captures
  std::vector<std::filesystem::path> series_folders;  // of this series and those before
  std::string name_suffix;                            // of captures
  std::string failed_folder;
  bool is_last = false;
};

// Makes one of them; fills its part of the document of --json.
using MakeRun = std::function<Exit(const SeriesRun& run, nlohmann::ordered_json& document)>;

// Makes a fresh folder <output>/<name>.runs, in it the captures of the runs and, in warm-up/, those
// of the first ones. A run that fails leaves the others; Ctrl-C and an Error, which is thrown on,
// end all. Prints a table of the runs and the command that compares. Returns the gravest.
Exit run_series(const SeriesPlan& plan, const MakeRun& make, nlohmann::ordered_json& document);

}  // namespace msprof
