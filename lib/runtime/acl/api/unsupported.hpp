// The body of a function that needs a real card.
#pragma once

#include <atomic>

namespace msprof::acl {

// Prints the function's name on stderr at its first call and stores the error message. Never
// throws.
void refuse(std::atomic_flag& said, const char* function) noexcept;

}  // namespace msprof::acl

#define MSPROF_UNSUPPORTED(value)                                \
  static std::atomic_flag said = ATOMIC_FLAG_INIT;               \
  msprof::acl::refuse(said, static_cast<const char*>(__func__)); \
  return value
#define MSPROF_UNSUPPORTED_ERROR MSPROF_UNSUPPORTED(ACL_ERROR_API_NOT_SUPPORT)
#define MSPROF_UNSUPPORTED_VOID MSPROF_UNSUPPORTED(void())
