// Runs the commands of a client logged in on an SSH server of the tests: several at once, each with
// its stdin, stdout and stderr. For KbdintServer.
#pragma once

#include <filesystem>

struct ssh_session_struct;

namespace msprof::test {

// Serves until the client disconnects, then kills running commands. `home` is HOME and the working
// folder.
void serve_commands(ssh_session_struct* session, const std::filesystem::path& home);

}  // namespace msprof::test
