// The name of this machine among those that share a folder or a board. For locks, logs and names of
// files.
#pragma once

#include <string>

namespace msprof {

// As the kernel has it, any bytes.
std::string own_host_name();

}  // namespace msprof
