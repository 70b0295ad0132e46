// Steps of the application: a begin and an end on a stream. Behind acl_prof.h.
// Rules: docs/host_cann.md.
#pragma once

#include <cstdint>

#include "runtime/acl/include/acl/acl_prof.h"

namespace msprof::acl {

// The next step of the process.
aclprofStepInfo* create_step();
void destroy_step(aclprofStepInfo* step);
// ACL_ERROR_INVALID_PARAM for a tag that is none or was used on the step; ACL_ERROR_GE_FAILURE for
// a stream that takes no task.
aclError mark_step(aclprofStepInfo* step, std::uint32_t tag, void* stream);

}  // namespace msprof::acl
