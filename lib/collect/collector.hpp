// collect(): profiles an application on a host and fetches the recording. Used by `msprof
// collect`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collect/host.hpp"
#include "collect/injection.hpp"
#include "collect/model_files.hpp"
#include "collect/outcome.hpp"
#include "collect/run_watch.hpp"
#include "session/run_record.hpp"

namespace msprof {

class DynamicCompanion;

struct CollectOptions {
  std::string main;
  std::vector<std::string> arguments;
  std::optional<std::string> project;
  std::optional<std::string> output;      // default: the current folder
  Injection* injection = nullptr;         // not owned
  DynamicCompanion* companion = nullptr;  // not owned; null: none
  RunWatch* watch = nullptr;              // not owned; null: none
  WaitLimits limits;
  bool sends_stdout_to_stderr = false;
  bool is_on_terminal = false;  // uses a terminal on the board
  // Never copied, like `output`: result folders of this and other runs, the cache of the runs.
  std::vector<std::filesystem::path> private_folders;
  // Files with a board's login; never copied.
  std::vector<std::filesystem::path> private_files;
  std::vector<std::string> environment;  // "NAME=value" for the application
  // Folder on the host with the program: runs it there, and copies nothing.
  std::optional<std::string> existing_folder;
  // Appended to the name of each capture: "_run2".
  std::string name_suffix;
  // Folder in `output` for the captures of a failed run; empty: none.
  std::string failed_folder;
  bool resumes = false;  // resumes an earlier run of the host instead of starting one
};

struct CollectStep {
  std::string name;
  double seconds = 0;
  std::uint64_t bytes = 0;  // copied or transferred
  std::uint64_t files = 0;  // copied or transferred; for a fetch: captures and other files
};

struct CollectedCapture {
  std::filesystem::path path;
  bool has_data = false;
  std::string label;  // shown next to the capture; empty: nothing
};

struct CollectResult {
  std::string main;
  std::string host;  // name of the host
  std::vector<std::pair<std::string, std::string>> host_facts;
  std::vector<ModelFile> models;
  // Start and end of the application in ns since 1970, UTC; 0: not started.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Outcome outcome;
  std::vector<CollectedCapture> captures;
  std::vector<LeftCapture> left;       // stay on the host; their products are local, at their final
                                       // path
  std::filesystem::path files_folder;  // empty: the run created and changed no files
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> deleted;
  std::vector<std::filesystem::path> changed_there;  // files of the project that changed on the
                                                     // host
  std::vector<CollectStep> steps;
  std::vector<std::string> notes;  // sentences about incomplete data
  std::string remains;             // sentence about files left on the host; empty: none
  std::string problem;             // reason why there is no profile data; empty: there is some
  std::vector<std::string> likely_causes;
  Exit exit_code = Exit::ok;
};

// Nanoseconds since 1970, UTC.
std::int64_t wall_clock_ns();

// Returns `known` with the facts of `result`.
RunRecord make_run_record(const CollectResult& result, const RunRecord& known, Exit exit);

// Prints progress and results on stderr. A failing application is no error; throws Error if it
// cannot be run or its results do not arrive. `result` then contains what was completed before.
// `record`: what the command line says about the run; replaced by the record of a resumed run. It
// is written next to captures that stay on the host, and kept there for the msprof that resumes
// the run.
void collect(const CollectOptions& options, Host& host, RunRecord& record, CollectResult& result);

}  // namespace msprof
