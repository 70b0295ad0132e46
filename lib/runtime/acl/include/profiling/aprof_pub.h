// Device of a graph model, for programs that set it themselves.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// Return 0, or -1 if the model already belongs to another device (Set) or does not belong to this
// one (Unset).
ACL_FUNC_VISIBILITY int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t geModelIdx,
                                                          const uint32_t deviceId);
ACL_FUNC_VISIBILITY int32_t MsprofUnsetDeviceIdByGeModelIdx(const uint32_t geModelIdx,
                                                            const uint32_t deviceId);

#ifdef __cplusplus
}
#endif
