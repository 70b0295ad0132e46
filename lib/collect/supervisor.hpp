// The small process between msprof and the application: it starts the application, watches it, and
// ends it and everything it started when msprof asks for it or is gone. For LocalProcess.
// It is a fork of msprof that never executes another program, so all of it is async-signal-safe.
#pragma once

#include <signal.h>

#include <cstdint>

namespace msprof {

// Prepared before the fork; pointers stay valid in the child.
struct SupervisedProgram {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* working_folder = nullptr;
  bool stdout_to_stderr = false;
  sigset_t signal_mask = {};  // the application's
};

// What the supervisor reports, in messages that a pipe never splits.
enum class Report : std::int32_t {
  cannot_start,  // value: errno
  left_over,     // value: processes still there when the application ended
  ended,         // value: wait status of the application
  finished,      // nothing of the application is left
};
struct ReportMessage {
  Report kind;
  std::int32_t value;
};

// msprof writes signal numbers as single bytes to `control_fd`; its end means that msprof is gone.
// Reports go to `report_fd`. To be called with all signals blocked.
[[noreturn]] void supervise(const SupervisedProgram& program, int control_fd, int report_fd);

}  // namespace msprof
