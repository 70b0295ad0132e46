// Finds the processes of a board that runs on this machine in /proc. For BoardServer.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace msprof::test {

struct BoardProcess {
  pid_t pid = 0;
  bool is_server = false;  // the server or one of its connection processes
  std::string command;     // its command line, for messages
};

// Returns the descendants of `server`, and the processes whose environment has `mark`
// ("NAME=value"), without zombies and without `server` itself. `server_name` is the name of the
// server's processes.
std::vector<BoardProcess> find_board_processes(pid_t server, const std::string& server_name,
                                               const std::string& mark);

// Returns false also for a zombie, which its parent may not have reaped yet.
bool is_running(pid_t pid);

}  // namespace msprof::test
