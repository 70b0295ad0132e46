// Where messages go: stderr, or stdout for callers of CANN's command line, who read progress there
// and partly take any byte on stderr for a failure. For the command line; messages: base/log.hpp.
#pragma once

namespace msprof::log {

// Sends messages to stdout, and holds errors back until release_errors().
void use_stdout();
bool is_on_stdout();

// Writes the errors that were held back: to stdout if the command succeeds in spite of them, else
// to stderr.
void release_errors(bool is_success);

}  // namespace msprof::log
