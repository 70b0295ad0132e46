// Outcome: how the run of an application ended, as text and as an exit code; and the wait for that
// end, with time limit and Ctrl-C. Used by the collector for all hosts.
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
  bool was_interrupted = false;  // by the user
  bool has_timed_out = false;    // by --timeout
  double seconds = 0;

  // True if it ended by itself and reported success, or ended when requested after its time limit.
  bool has_succeeded() const;
  // Exit code of msprof: ok (also for an unknown end), application_failed, board_unreachable or
  // interrupted.
  Exit exit_code() const;

 private:
  bool has_ended_on_term() const;
};

struct WaitLimits {
  std::optional<double> timeout_seconds;
  double grace_seconds = 5;    // time between the request to end and SIGKILL
  double elapsed_seconds = 0;  // part of the time limit that was used before the wait
};

// Waits until `program` has ended. Forwards Ctrl-C (base/interrupt) as SIGINT; sends SIGTERM for
// other termination requests and at the time limit; sends SIGKILL after the grace period. `name` is
// for messages; `on_tick` is called about ten times a second.
Outcome wait_for_end(RunningProgram& program, const WaitLimits& limits, const std::string& name,
                     const std::function<void()>& on_tick);

// "SIGSEGV", "signal 64"
std::string signal_name(int number);

// "main exited with code 3", "main was killed by SIGKILL after the time limit of 2 s"
std::string describe(const Outcome& outcome, const std::string& name, const WaitLimits& limits);

}  // namespace msprof
