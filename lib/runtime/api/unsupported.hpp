// For functions of the interface that a Linux host does not have.
#pragma once

#include <atomic>

namespace msprof::runtime {

// Names the function on stderr.
void say_unsupported(const char* function);

}  // namespace msprof::runtime

// The body of such a function: names itself the first time it is called, and returns the value.
#define MSPROF_UNSUPPORTED(value)                                                                 \
  static std::atomic_flag said = ATOMIC_FLAG_INIT;                                                \
  if (!said.test_and_set()) msprof::runtime::say_unsupported(static_cast<const char*>(__func__)); \
  return value
