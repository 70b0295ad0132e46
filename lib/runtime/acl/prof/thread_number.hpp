// Id of the current thread in records.
#pragma once

#include <cstdint>

namespace msprof::acl {

// Returns gettid(), cached because the system call costs more than the rest of a record. Updated
// after a fork.
std::uint32_t thread_number();

}  // namespace msprof::acl
