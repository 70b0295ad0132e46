#include "acl/headers/layouts.h"

#include <type_traits>

// What `auto` makes of a code is what the functions return.
static_assert(std::is_same_v<std::decay_t<decltype(ACL_SUCCESS)>, aclError>);
static_assert(std::is_same_v<aclError, int>);
static_assert(std::is_same_v<decltype(OK), const aclnnStatus>);
static_assert(std::is_same_v<decltype(ACL_PROF_ACL_API), unsigned long long>);
