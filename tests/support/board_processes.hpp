// The processes of a board that runs on this machine, found in /proc. For BoardServer.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace msprof::test {

struct BoardProcess {
  pid_t pid = 0;
  bool is_server = false;  // the server itself or one of its connections
  std::string command;     // its command line, for messages
};

// Everything that descends from `server`, or whose environment has `mark` ("NAME=value");
// `server_name` is the name of the server's own processes. Zombies do not count, `server` neither.
std::vector<BoardProcess> find_board_processes(pid_t server, const std::string& server_name,
                                               const std::string& mark);

// False for a zombie, too: whoever inherited it takes it away when it likes.
bool is_running(pid_t pid);

}  // namespace msprof::test
