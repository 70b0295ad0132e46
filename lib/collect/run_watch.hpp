// RunWatch: something that follows a run and shows how it goes. For the collector, whatever the
// host.
#pragma once

#include <memory>
#include <string>

#include "collect/output_peek.hpp"

namespace msprof {

class Host;

class RunWatch {
 public:
  virtual ~RunWatch() = default;

  // When the application was started. `peek` may be null: the host gives no look at its files.
  virtual void begin(const Host& host, const std::string& name,
                     std::unique_ptr<OutputPeek> peek) = 0;
  // About ten times a second while it runs. Never throws for what cannot be read.
  virtual void tick() = 0;
  // When it has ended, on every way out; the terminal is as it was.
  virtual void finish() noexcept = 0;
};

}  // namespace msprof
