// Ctrl-C and TERM as a flag that long loops check, so that temporary files go and nothing
// half-made stays. For the verbs (install) and every long loop (check).
#pragma once

namespace msprof::interrupt {

// Catches SIGINT, SIGTERM and SIGHUP from now on; the second one of them ends the program at once,
// but for a SIGHUP, which comes more than once from one closed terminal.
// SIGPIPE and SIGXFSZ are ignored, so that a closed stdout and a file beyond the limit of its size
// are write errors with a sentence.
void install();

// Number of the last signal received, 0 when none; and the count of signals.
int received();
int count();

// Leaves a second signal, while one lives, to the one who watches count(), as the collector does to
// end an application harder; the third ends the program at once.
class DeferSecondSignal {
 public:
  DeferSecondSignal();
  ~DeferSecondSignal();
  DeferSecondSignal(const DeferSecondSignal&) = delete;
  DeferSecondSignal& operator=(const DeferSecondSignal&) = delete;
};

// Forgets a signal that has done its work: it ended the application, and what comes now can be
// interrupted anew.
void acknowledge();

// Makes a closed terminal, also one closed before, end nothing from now on: for work on results
// that were waited for long.
void ignore_hangup();
// Ends that: a closed terminal ends what comes now, where it did before.
void heed_hangup();

// Hides signals from before it while one lives: for work that fetches what an
// interrupted run left, and that a further signal still ends.
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

// What is to be put right of a terminal.
enum class LastAct { settings, picture };
// Sets what a signal that ends the program at once does before, one function of each kind; it runs
// within the signal handler. nullptr: nothing.
void before_exit(void (*last_act)(), LastAct kind = LastAct::settings);

// Throws Error(Exit::interrupted) when a signal has been received.
void check();

}  // namespace msprof::interrupt
