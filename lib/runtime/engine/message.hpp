// Messages of the runtime to the user of the application.
#pragma once

#include <string_view>

namespace msprof::runtime {

// Writes "msprof runtime: <sentence>\n" to stderr with a single write. Never fails and never raises
// SIGPIPE: the application must keep running even if its stderr has no reader.
void say(std::string_view sentence);

}  // namespace msprof::runtime
