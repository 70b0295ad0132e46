// The one checked memory function that programs for CANN bring along.
#pragma once

#include <stddef.h>

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef EOK
#define EOK 0
#endif
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL

typedef int errno_t;

// Sets `count` bytes of a destination that has `destMax`. NULL: EINVAL; no destination, or one
// beyond SECUREC_MEM_MAX_LEN: ERANGE, and nothing is written; more than fits: all of it is set, and
// ERANGE_AND_RESET.
ACL_FUNC_VISIBILITY errno_t memset_s(void* dest, size_t destMax, int c, size_t count);

#ifdef __cplusplus
}
#endif
