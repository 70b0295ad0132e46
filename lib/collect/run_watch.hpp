// RunWatch: follows a run and shows its progress. Used by the collector for all hosts.
#pragma once

#include <memory>
#include <string>

#include "collect/output_peek.hpp"

namespace msprof {

class Host;

class RunWatch {
 public:
  virtual ~RunWatch() = default;

  // Called when the application has started. `peek` is null if the host does not support it.
  virtual void begin(const Host& host, const std::string& name,
                     std::unique_ptr<OutputPeek> peek) = 0;
  // Called about ten times a second while the application runs. Does not throw for unreadable
  // files.
  virtual void tick() = 0;
  // Called when the application has ended, on every return path; restores the terminal.
  virtual void finish() noexcept = 0;
};

}  // namespace msprof
