// Ctrl-C while something is recorded: the files are completed, the application ends as it would
// without us. Rules: docs/host_cann.md.
#pragma once

namespace msprof::acl {

// From the first recording on. An application with a handler of its own has 2 s from the signal;
// then `close_recordings` is called, by a thread of ours. One that would end by the signal ends by
// it after that. One that ignores the signal, or takes it over later, is left alone.
void watch_interrupts(void (*close_recordings)());
// While nothing is recorded the signal takes its way past us.
void ignore_interrupts();

}  // namespace msprof::acl
