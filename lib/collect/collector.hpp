// collect(): runs an application profiled on a host and fetches what it recorded. For the verb.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collect/companion.hpp"
#include "collect/host.hpp"
#include "collect/injection.hpp"
#include "collect/model_files.hpp"
#include "collect/outcome.hpp"
#include "collect/run_watch.hpp"

namespace msprof {

struct CollectResult;

struct CollectOptions {
  std::string main;
  std::vector<std::string> arguments;
  std::optional<std::string> project;
  std::optional<std::string> output;  // default: the current folder
  Injection* injection = nullptr;     // not owned
  Companion* companion = nullptr;     // not owned; null: none
  RunWatch* watch = nullptr;          // likewise
  WaitLimits limits;
  bool stdout_to_stderr = false;
  bool on_terminal = false;  // on a board
  // Folder of the runs; never copied, like the output folder.
  std::vector<std::filesystem::path> private_folders;
  // File with a board's login; never copied either.
  std::vector<std::filesystem::path> private_files;
  std::vector<std::string> environment;  // "NAME=value" for the application
  // Folder on the host: run what is there, and copy nothing to it.
  std::optional<std::string> existing_folder;
  // Behind the name of each capture: "_run2".
  std::string name_suffix;
  // Folder in `output` for the captures of a run that fails; empty: with the others.
  std::string failed_folder;
  // Text of the file `record_name`, made of what is known when the results are fetched, that
  // captures which stay on the host get; empty: none.
  std::function<std::string(const CollectResult&)> record;
  std::string record_name;
  // The run goes on when the connection to a board is lost.
  bool survives = false;
  // In place of a run: goes on with an earlier one of the host. Called with the note of that run,
  // its `record` of then (may be empty), to fill what is known of it.
  std::function<void(const std::string& note, CollectResult&)> resume;
};

struct CollectStep {
  std::string name;
  double seconds = 0;
  std::uint64_t bytes = 0;  // that were copied or travelled
  std::uint64_t files = 0;  // likewise; of a fetch: captures and files beside them
};

struct CollectedCapture {
  std::filesystem::path path;
  bool has_data = false;
  std::string label;  // what is to be said beside it; empty: nothing
};

struct CollectResult {
  std::string main;
  std::string host;  // its name
  std::vector<std::pair<std::string, std::string>> host_facts;
  std::vector<ModelFile> models;
  // Of the application, since 1970, UTC; 0: it was not started.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Outcome outcome;
  std::vector<CollectedCapture> captures;
  std::vector<LeftCapture> left;       // on the host; their products here, at their final place
  std::filesystem::path files_folder;  // empty: the run made and changed no files
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> deleted;
  std::vector<std::filesystem::path> changed_there;  // on the host, of the project itself
  std::vector<CollectStep> steps;
  std::vector<std::string> notes;  // what did not arrive complete, a sentence each
  std::string remains;             // sentence on what stays on the host; empty: nothing
  std::string problem;             // reason why there is no profile data; empty: there is
  std::vector<std::string> likely_causes;
  Exit exit_code = Exit::ok;
};

// Nanoseconds since 1970, UTC.
std::int64_t wall_clock_ns();

// Prints its progress and results on stderr. An application that fails is a result; an Error
// is thrown for what keeps it from running or its results from arriving; `result` then has what was
// done until there.
void collect(const CollectOptions& options, Host& host, CollectResult& result);

}  // namespace msprof
