// Name of this machine, which distinguishes it from others that share a folder or a board. For
// locks, logs and file names.
#pragma once

#include <string>

namespace msprof {

// Returns the kernel's node name; it may contain any bytes.
std::string own_host_name();

}  // namespace msprof
