// Steps of the application: a start mark and an end mark on a stream. Used by acl_prof.h. Codes:
// acl/api/README.md.
#pragma once

#include <cstdint>

#include "runtime/acl/include/acl/acl_prof.h"

namespace msprof::acl {

// Creates the next step of the process.
aclprofStepInfo* create_step();
void destroy_step(aclprofStepInfo* step);
// Returns ACL_ERROR_INVALID_PARAM if the tag is unknown or was already used for the step,
// ACL_ERROR_GE_FAILURE if the stream accepts no task.
aclError mark_step(aclprofStepInfo* step, std::uint32_t tag, void* stream);

}  // namespace msprof::acl
