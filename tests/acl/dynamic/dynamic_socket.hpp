// Shared by the tests of dynamic mode in this folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "support/lines.hpp"

namespace msprof::test {

// Returns the socket of a process with that home.
inline std::filesystem::path dynamic_socket(const std::filesystem::path& home, pid_t process) {
  return home / ("dynamic_profiling_socket_" + std::to_string(process));
}

}  // namespace msprof::test
