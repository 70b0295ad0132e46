// Opens a TCP connection to a host, with a time limit and interruptible by Ctrl-C. libssh's own
// connect tries only one address. Internal to lib/ssh.
#pragma once

#include "base/file_reader.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// Returns a connected, non-blocking socket that detects a dead host (SshPatience). Throws
// Error(board_unreachable) with the reason, Error(interrupted).
FileDescriptor tcp_connect(const SshLogin& login);

}  // namespace msprof
