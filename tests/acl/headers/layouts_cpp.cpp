#include "acl/headers/layouts.h"

#include <type_traits>

// `auto` deduced from an error code must equal the return type of the functions.
static_assert(std::is_same_v<std::decay_t<decltype(ACL_SUCCESS)>, aclError>);
static_assert(std::is_same_v<aclError, int>);
static_assert(std::is_same_v<decltype(OK), const aclnnStatus>);
static_assert(std::is_same_v<decltype(ACL_PROF_ACL_API), unsigned long long>);
