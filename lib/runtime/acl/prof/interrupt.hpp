// Ctrl-C during a recording: the files are completed, and the application ends as it would without
// the profiler. Rules: docs/host_cann.md.
#pragma once

namespace msprof::acl {

// Called when the first recording starts. If the application handles SIGINT itself,
// `close_recordings` is called 2 s after the signal, from a separate thread. If the signal would
// end the application, the recordings are closed first. An application that ignores the signal, or
// installs its handler later, is not affected.
void watch_interrupts(void (*close_recordings)());
// Makes the handler inactive while nothing is recorded.
void ignore_interrupts();

}  // namespace msprof::acl
