// Ctrl-C and TERM as a flag that long loops look at, so that temporary files go and nothing
// half-made stays. For the verbs (install) and every long loop (check).
#pragma once

namespace msprof::interrupt {

// Catch SIGINT, SIGTERM and SIGHUP from now on; the second one of them ends the program at once,
// but for a SIGHUP, which comes more than once from one closed terminal.
// SIGPIPE is ignored, so that a closed stdout is a write error with a sentence.
void install();

// The number of the last signal received, 0 when none; and how many there were.
int received();
int count();

// While one lives, a second signal is left to the one who watches count(), as the collector does to
// end an application harder; the third ends the program at once.
class MorePatience {
 public:
  MorePatience();
  ~MorePatience();
  MorePatience(const MorePatience&) = delete;
  MorePatience& operator=(const MorePatience&) = delete;
};

// Forgets a signal that has done its work: it ended the application, and what comes now can be
// interrupted anew.
void acknowledge();

// From now on a closed terminal, also one closed before, ends nothing: for work on results that
// were waited for long.
void ignore_hangup();

// While one lives, signals from before it are not seen: for work that brings home what an
// interrupted run left, and that a further signal still ends.
class Aside {
 public:
  Aside();
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  int received_;
  int count_;
};

// What a signal that ends the program at once does before (to put a terminal back, say); it runs
// within the signal handler. nullptr: nothing.
void before_exit(void (*last_act)());

// Throws Error(Exit::interrupted) when a signal has been received.
void check();

}  // namespace msprof::interrupt
