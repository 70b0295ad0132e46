// The number of this thread, as records have it.
#pragma once

#include <cstdint>

namespace msprof::acl {

// As gettid(), which costs more than the rest of a record: the kernel is asked once a thread, and
// again after a fork.
std::uint32_t thread_number();

}  // namespace msprof::acl
