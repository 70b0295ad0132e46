// Host keys as text: type, base64, SHA256 fingerprint. Inside lib/ssh.
#pragma once

#include <libssh/libssh.h>

#include "ssh/known_hosts.hpp"

namespace msprof {

HostKey describe(ssh_key key);

}  // namespace msprof
