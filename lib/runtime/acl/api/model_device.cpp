// profiling/aprof_pub.h: programs that say themselves which device a model of a graph runs on.
#include <map>
#include <mutex>
#include <new>

#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/include/profiling/aprof_pub.h"

using namespace msprof::acl;

namespace {

struct ModelDevices {
  std::mutex mutex;
  std::map<uint32_t, uint32_t> by_model;
};

// Never destroyed: other threads may still be inside the interface while the process exits.
ModelDevices& model_devices() {
  static auto* const made = new ModelDevices;
  return *made;
}

}  // namespace

extern "C" {

int32_t MsprofSetDeviceIdByGeModelIdx(const uint32_t geModelIdx, const uint32_t deviceId) {
  const int result = guarded(__func__, [&] {
    if (deviceId >= device_count()) return -1;
    const std::lock_guard lock(model_devices().mutex);
    const auto entry = model_devices().by_model.try_emplace(geModelIdx, deviceId).first;
    return entry->second == deviceId ? 0 : -1;
  });
  return result == 0 ? 0 : -1;
}

int32_t MsprofUnsetDeviceIdByGeModelIdx(const uint32_t geModelIdx, const uint32_t deviceId) {
  const std::lock_guard lock(model_devices().mutex);
  const auto found = model_devices().by_model.find(geModelIdx);
  if (found == model_devices().by_model.end() || found->second != deviceId) return -1;
  model_devices().by_model.erase(found);
  return 0;
}

}  // extern "C"
