// What both tests of dynamic mode say. For the tests of this folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "support/lines.hpp"

namespace msprof::test {

// The socket of a process whose home that is.
inline std::filesystem::path dynamic_socket(const std::filesystem::path& home, pid_t process) {
  return home / ("dynamic_profiling_socket_" + std::to_string(process));
}

}  // namespace msprof::test
