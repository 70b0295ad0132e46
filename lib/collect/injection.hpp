// Injection: how the settings of the profiler reach an application: files of the run, or words and
// variables of the command that is started; and what a run may leave. For the collector; a dialect
// has one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "collect/host.hpp"
#include "collect/outcome.hpp"

namespace msprof {

// Facts about a run that left no profile; they exclude causes.
struct RunInfo {
  std::string main;
  bool capture_there = false;  // a folder, but without data
  bool on_board = false;
  bool output_full = false;  // no space where the run writes
  Outcome outcome;
};

class Injection {
 public:
  virtual ~Injection() = default;

  // What the folders that a run leaves are called: "JOB".
  virtual std::string_view capture_name() const = 0;
  // Files that the run gets.
  virtual std::vector<ExtraFile> plan_files(const Project& project, const RunPaths& paths) = 0;
  // Changes what is started; after plan_files().
  virtual void apply(const RunPaths& paths, RunCommand& command) = 0;
  // What is to be said beside a capture that arrived: "rank 3"; empty: nothing.
  virtual std::string label_of(const std::filesystem::path& capture) const = 0;
  // Reasons why a run may have left no profile: the causes that remain, the likeliest first; each a
  // sentence without its full stop.
  virtual std::vector<std::string> likely_causes(const RunInfo& info) const = 0;
};

}  // namespace msprof
