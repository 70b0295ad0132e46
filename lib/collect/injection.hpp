// Injection: passes the profiler settings to an application, through files of the run or through
// arguments and variables of the command, and describes the captures of a run. Used by the
// collector; each dialect has one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "collect/host.hpp"
#include "collect/outcome.hpp"

namespace msprof {

// Facts about a run without a profile, which exclude some causes.
struct RunInfo {
  std::string main;
  bool has_capture = false;  // there is a capture folder, but without data
  bool is_on_board = false;
  bool is_output_full = false;  // there was no space for the run's output
  Outcome outcome;
};

class Injection {
 public:
  virtual ~Injection() = default;

  // Prefix of the names of capture folders: "JOB".
  virtual std::string_view capture_name() const = 0;
  // Returns the files to add to the run.
  virtual std::vector<ExtraFile> plan_files(const Project& project, const RunPaths& paths) = 0;
  // Changes the command; call after plan_files().
  virtual void apply(const RunPaths& paths, RunCommand& command) = 0;
  // Returns a label for a capture that has arrived: "rank 3"; empty: none.
  virtual std::string capture_label(const std::filesystem::path& capture) const = 0;
  // Possible reasons for a run without a profile, the most likely first; each a sentence without
  // full stop.
  virtual std::vector<std::string> likely_causes(const RunInfo& info) const = 0;
};

}  // namespace msprof
