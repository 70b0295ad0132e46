// The only checked memory function that CANN programs use.
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

// Sets `count` bytes of a destination with `destMax` bytes. EINVAL for a NULL destination. ERANGE,
// without writing, if `destMax` is 0 or above SECUREC_MEM_MAX_LEN. ERANGE_AND_RESET if `count` is
// too large; then the whole destination is set.
ACL_FUNC_VISIBILITY errno_t memset_s(void* dest, size_t destMax, int c, size_t count);

#ifdef __cplusplus
}
#endif
