// profiling/aprof_pub.h: for programs that set the device of a graph model themselves.
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/include/profiling/aprof_pub.h"

using namespace msprof::acl;

extern "C" {

int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t geModelIdx, const uint32_t deviceId) {
  const int result =
      guarded(__func__, [&] { return set_graph_model_device(geModelIdx, deviceId) ? 0 : -1; });
  return result == 0 ? 0 : -1;
}

int32_t MsprofUnsetDeviceIdByGeModelIdx(const uint32_t geModelIdx, const uint32_t deviceId) {
  return unset_graph_model_device(geModelIdx, deviceId) ? 0 : -1;
}

}  // extern "C"
