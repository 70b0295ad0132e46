// Ctrl-C and TERM as a flag that long loops look at, so that temporary files go and nothing
// half-made stays. For the verbs (install) and every long loop (check).
#pragma once

namespace msprof::interrupt {

// Catch SIGINT, SIGTERM and SIGHUP from now on; the second one of them ends the program at once.
// SIGPIPE is ignored, so that a closed stdout is a write error with a sentence.
void install();

// The number of the signal received, 0 when none.
int received();

// Forgets a signal that has done its work: it ended the application, and what comes now can be
// interrupted anew.
void acknowledge();

// Throws Error(Exit::interrupted) when a signal has been received.
void check();

}  // namespace msprof::interrupt
