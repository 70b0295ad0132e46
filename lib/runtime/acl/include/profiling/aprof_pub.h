// Which device a model of a graph runs on, for programs that tell it themselves.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// 0, or -1 for a model that belongs to another device already, or does not belong to this one.
ACL_FUNC_VISIBILITY int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t geModelIdx,
                                                          const uint32_t deviceId);
ACL_FUNC_VISIBILITY int32_t MsprofUnsetDeviceIdByGeModelIdx(const uint32_t geModelIdx,
                                                            const uint32_t deviceId);

#ifdef __cplusplus
}
#endif
