// Selects the message stream: stderr, or stdout for callers of CANN's command line, which read
// progress from stdout and may treat any byte on stderr as a failure. For the command line;
// messages are printed by base/log.hpp.
#pragma once

namespace msprof::log {

// Sends messages to stdout and holds errors back until release_errors().
void use_stdout();
bool is_on_stdout();

// Writes the held errors: to stdout if the command succeeded despite them, else to stderr.
void release_errors(bool is_success);

}  // namespace msprof::log
