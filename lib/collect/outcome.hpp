// Outcome: end of the run of an application and its cause, in words and as an exit code; and the
// wait for that end, with its time limit and Ctrl-C. For the collector, whatever the host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "collect/host.hpp"

namespace msprof {

struct Outcome {
  ProgramEnd end;
  bool interrupted = false;  // the user ended it
  bool timed_out = false;    // --timeout did
  double seconds = 0;

  // True if it ran to its end by itself and reported success, or for the time that it was to run
  // and then ended when it was asked to.
  bool ok() const;
  // exit code of msprof for this, ok for an unknown end: ok, application_failed, board_unreachable
  // or interrupted
  Exit exit_code() const;

 private:
  bool ended_on_term() const;
};

struct WaitLimits {
  std::optional<double> timeout_seconds;
  double grace_seconds = 5;    // from the request to end until SIGKILL
  double elapsed_seconds = 0;  // of the time limit, before the wait begins
};

// Waits until `program` has ended. Ctrl-C (base/interrupt) is passed on as SIGINT, other requests
// to end and the time limit as SIGTERM; SIGKILL follows after the grace. `name` is for the
// messages; `on_tick` is called about ten times a second.
Outcome wait_for_end(RunningProgram& program, const WaitLimits& limits, const std::string& name,
                     const std::function<void()>& on_tick);

// "SIGSEGV", "signal 64"
std::string signal_name(int number);

// "main exited with code 3", "main was killed by SIGKILL after the time limit of 2 s"
std::string describe(const Outcome& outcome, const std::string& name, const WaitLimits& limits);

}  // namespace msprof
