// What both tests of dynamic mode say. For the tests of this folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace msprof::test {

// The socket of a process whose home that is.
inline std::filesystem::path dynamic_socket(const std::filesystem::path& home, pid_t process) {
  return home / ("dynamic_profiling_socket_" + std::to_string(process));
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace msprof::test
