// Records SIGINT, SIGTERM and SIGHUP in a flag that long loops check, so that temporary files are
// removed on exit. Verbs call install(); every long loop calls check().
#pragma once

namespace msprof::interrupt {

// Catches SIGINT, SIGTERM and SIGHUP. The second signal ends the program at once, except for
// SIGHUP, which a closed terminal sends more than once.
// Ignores SIGPIPE and SIGXFSZ, so that a closed stdout and a file above its size limit cause a
// write error with a message.
void install();

// Number of the last signal received (0: no signal), and how many were received.
int received();
int count();

// For its lifetime, the second signal does not end the program: the caller watches count(), as the
// collector does to stop an application more forcefully. The third ends the program at once.
class DeferSecondSignal {
 public:
  DeferSecondSignal();
  ~DeferSecondSignal();
  DeferSecondSignal(const DeferSecondSignal&) = delete;
  DeferSecondSignal& operator=(const DeferSecondSignal&) = delete;
};

// Clears a signal that ended the application: the work that follows can be interrupted again.
void acknowledge();

// Ignores a closed terminal from now on, even if it has already closed. For saving results that
// took long to produce.
void ignore_hangup();
// Reverts ignore_hangup(), if SIGHUP was handled before it.
void heed_hangup();

// Hides already received signals for its lifetime: for fetching the results of an interrupted run;
// a further signal still interrupts.
class MaskPendingSignal {
 public:
  MaskPendingSignal();
  ~MaskPendingSignal();
  MaskPendingSignal(const MaskPendingSignal&) = delete;
  MaskPendingSignal& operator=(const MaskPendingSignal&) = delete;

 private:
  int received_;
  int count_;
};

// Restores the terminal's modes, or the screen.
enum class LastAct { settings, picture };
// Registers the function to call before a signal ends the program at once, one per kind; nullptr
// removes it. It runs in the signal handler.
void before_exit(void (*last_act)(), LastAct kind = LastAct::settings);

// Throws Error(Exit::interrupted) if a signal has been received.
void check();

}  // namespace msprof::interrupt
