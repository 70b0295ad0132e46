// Devices and contexts.
#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/api/error_message.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

aclError synchronize_device(std::int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const WaitDeadline deadline = deadline_in(timeout);
  aclError first = ACL_SUCCESS;
  for (const auto& stream : Runtime::instance().current_device_streams()) {
    if (stream->is_on_worker()) continue;
    const aclError code = stream->synchronize(deadline);
    if (first == ACL_SUCCESS) first = code;
  }
  return first;
}

// A device has one core of each kind, as in the machine model.
constexpr std::int64_t kCores = 1;

// Returns a value of sysconf(). Throws Failure if it is unknown on this host.
std::int64_t known(long value) {
  if (value <= 0) throw Failure(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  return value;
}

std::int64_t attribute(aclrtDevAttr attribute) {
  switch (attribute) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      return kCores;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:  // memory of the host
      return known(sysconf(_SC_PHYS_PAGES)) * known(sysconf(_SC_PAGESIZE));
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      return known(sysconf(_SC_LEVEL2_CACHE_SIZE));
    case ACL_DEV_ATTR_WARP_SIZE:
    case ACL_DEV_ATTR_PHY_CHIP_ID:
    case ACL_DEV_ATTR_IS_VIRTUAL:
    case ACL_DEV_ATTR_NPU_ARCH:
      throw Failure(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the attribute does not exist on a host");
  }
  throw Failure(ACL_ERROR_INVALID_PARAM);
}

std::int64_t capability(aclDeviceInfo info) {
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      return kCores;
    case ACL_DEVICE_INFO_L2_SIZE:
      return attribute(ACL_DEV_ATTR_L2_CACHE_SIZE);
    case ACL_DEVICE_INFO_UNDEFINED:
      break;
  }
  throw Failure(ACL_ERROR_INVALID_PARAM);
}

// Core limits set by the process, by device and kind.
using CoreLimits = std::map<std::pair<std::int32_t, aclrtDevResLimitType>, std::uint32_t>;
std::mutex core_limits_mutex;
CoreLimits& core_limits() {
  static CoreLimits* const limits = new CoreLimits;  // never destroyed: used until the process ends
  return *limits;
}

CoreLimits::key_type core_limit(std::int32_t device, aclrtDevResLimitType type) {
  if (type != ACL_RT_DEV_RES_CUBE_CORE && type != ACL_RT_DEV_RES_VECTOR_CORE)
    throw Failure(ACL_ERROR_INVALID_PARAM);
  return {device, type};
}

void require_device(std::uint32_t device) {
  if (device >= Runtime::instance().device_count()) throw Failure(ACL_ERROR_RT_INVALID_DEVICEID);
}

}  // namespace

extern "C" {

aclError aclrtSetDevice(int32_t deviceId) {
  return recorded(__func__, Call::aclrtSetDevice,
                  [&] { Runtime::instance().set_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return recorded(__func__, Call::aclrtResetDevice,
                  [&] { Runtime::instance().reset_device(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return recorded(__func__, Call::aclrtResetDeviceForce,
                  [&] { Runtime::instance().reset_device(deviceId, true); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return recorded(__func__, Call::aclrtGetDevice, [&] {
    require(deviceId);
    *deviceId = Runtime::instance().current_context()->device;
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return guarded(__func__, [&] {
    require(count);
    *count = Runtime::instance().device_count();
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return guarded(__func__, [&] {
    require(value);
    require_device(deviceId);
    *value = attribute(attr);
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return guarded(__func__, [&] {
    require(value);
    require_device(deviceId);
    *value = capability(deviceInfo);
  });
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return guarded(__func__, [&] {
    require(errorInfo);
    require_device(static_cast<std::uint32_t>(deviceId));
    *errorInfo = {};
    errorInfo->errorType = ACL_RT_NO_ERROR;
  });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return guarded(__func__, [&] {
    require(value);
    require_device(static_cast<std::uint32_t>(deviceId));
    const auto key = core_limit(deviceId, type);
    const std::lock_guard lock(core_limits_mutex);
    const auto found = core_limits().find(key);
    *value = found == core_limits().end() ? static_cast<std::uint32_t>(kCores) : found->second;
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return guarded(__func__, [&] {
    require_device(static_cast<std::uint32_t>(deviceId));
    const auto key = core_limit(deviceId, type);
    if (value == 0) throw Failure(ACL_ERROR_INVALID_PARAM, "a process needs at least one core");
    const std::lock_guard lock(core_limits_mutex);
    core_limits()[key] = value;
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return guarded(__func__, [&] {
    require_device(static_cast<std::uint32_t>(deviceId));
    const std::lock_guard lock(core_limits_mutex);
    for (const auto type : {ACL_RT_DEV_RES_CUBE_CORE, ACL_RT_DEV_RES_VECTOR_CORE})
      core_limits().erase(core_limit(deviceId, type));
  });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
  constexpr std::int32_t kLeast = 7, kGreatest = 0;  // same values as on a card
  return guarded(__func__, [&] {
    require(leastPriority, greatestPriority);
    *leastPriority = kLeast;
    *greatestPriority = kGreatest;
  });
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? last_code() : ACL_ERROR_INVALID_PARAM;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (level != ACL_RT_THREAD_LEVEL) return ACL_ERROR_INVALID_PARAM;
  const aclError code = last_code();
  remember_code(ACL_SUCCESS);
  return code;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return recorded(__func__, Call::aclrtGetRunMode, [&] {
    require(runMode);
    Runtime::instance().require_initialised();
    *runMode = ACL_HOST;
  });
}

aclError aclrtSynchronizeDevice() {
  return recorded(__func__, Call::aclrtSynchronizeDevice, [] { return synchronize_device(-1); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return recorded(__func__, Call::aclrtSynchronizeDeviceWithTimeout,
                  [&] { return synchronize_device(timeout); });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return recorded(__func__, Call::aclrtCreateContext, [&] {
    require(context);
    *context = Runtime::instance().create_context(deviceId).get();
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return recorded(__func__, Call::aclrtDestroyContext, [&] {
    require(context);
    Runtime::instance().destroy_context(context);
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return recorded(__func__, Call::aclrtSetCurrentContext, [&] {
    require(context);
    Runtime::instance().set_current_context(context);
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return recorded(__func__, Call::aclrtGetCurrentContext, [&] {
    require(context);
    *context = Runtime::instance().current_context().get();
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return guarded(__func__, [&] {
    require(stream);
    *stream = Runtime::instance().current_context()->default_stream.get();
  });
}

}  // extern "C"
