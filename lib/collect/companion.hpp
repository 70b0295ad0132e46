// What goes on beside an application while it runs, such as a session that tells it when to record.
// For the collector; a dialect may have one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collect/host.hpp"

namespace msprof {

class Companion {
 public:
  virtual ~Companion() = default;

  // Before the start; may change what is started.
  virtual void begin(const RunPaths& paths, RunCommand& command) = 0;
  // About ten times a second, and once more at the end. Returns captures in the output folder of
  // the run that are complete and may be taken from there.
  virtual std::vector<std::filesystem::path> tick() = 0;
  // When the application has ended; sentences on what went wrong.
  virtual std::vector<std::string> finish() = 0;
};

}  // namespace msprof
