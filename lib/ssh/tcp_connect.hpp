// A TCP connection to a host, in bounded time and interruptible by Ctrl-C; libssh's own connect
// tries one address only. Inside lib/ssh.
#pragma once

#include "base/file_reader.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// A connected, non-blocking socket that detects a dead host (SshPatience). Throws
// Error(board_unreachable) with the reason, Error(interrupted).
FileDescriptor tcp_connect(const SshLogin& login);

}  // namespace msprof
