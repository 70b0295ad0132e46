// Messages of the runtime to the person who runs the application.
#pragma once

#include <string_view>

namespace msprof::runtime {

// Writes "msprof runtime: <sentence>\n" to stderr in one piece. Never fails and never raises
// SIGPIPE: the application must run on even if its stderr has no reader.
void say(std::string_view sentence);

}  // namespace msprof::runtime
