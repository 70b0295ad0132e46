// Companion: code that runs next to an application, such as a session that starts and stops
// recordings. Used by the collector; optional for a dialect.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collect/host.hpp"

namespace msprof {

class Companion {
 public:
  virtual ~Companion() = default;

  // Called before the application starts; may change the command.
  virtual void begin(const RunPaths& paths, RunCommand& command) = 0;
  // Called about ten times a second, and once more at the end. Returns captures in the output
  // folder of the run that are complete and may be moved.
  virtual std::vector<std::filesystem::path> tick() = 0;
  // Called when the application has ended; returns sentences about problems.
  virtual std::vector<std::string> finish() = 0;
};

}  // namespace msprof
