// Devices and contexts.
#include "acl/acl_rt.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

aclError synchronize_device(std::int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const Deadline deadline = deadline_in(timeout);
  aclError first = ACL_SUCCESS;
  for (const auto& stream : Runtime::instance().streams_of_current_device()) {
    if (stream->on_worker()) continue;
    const aclError code = stream->synchronize(deadline);
    if (first == ACL_SUCCESS) first = code;
  }
  return first;
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

}  // extern "C"
