// acl.rt: devices, contexts, streams, events, memory, callbacks.
#include <memory>

#include "acl/acl.h"
#include "runtime/python/bind.hpp"

namespace msprof::python {

namespace {

// A Python function queued in a stream.
struct Callback {
  py::object function;
  py::object argument;
};

// Runs in the thread that processes the reports of the stream; acquires the GIL.
void run_callback(void* data) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire gil;
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  try {
    callback->function(callback->argument);
  } catch (py::error_already_set& error) {
    // The callback has no caller: print the error on stderr, as Python does in this case.
    error.discard_as_unraisable(callback->function);
  }
}

aclError launch_callback(py::object function, py::object argument, std::int64_t block_type,
                         std::uintptr_t stream) {
  if (PyCallable_Check(function.ptr()) == 0) return ACL_ERROR_INVALID_PARAM;
  auto callback = std::make_unique<Callback>(Callback{std::move(function), std::move(argument)});
  aclError code = ACL_SUCCESS;
  {
    const Unlocked unlocked;
    code = aclrtLaunchCallback(run_callback, callback.get(),
                               static_cast<aclrtCallbackBlockType>(block_type),
                               Parameter<aclrtStream>::to_c(stream));
  }
  // Launched: the stream owns the callback now, and may have run it already.
  if (code == ACL_SUCCESS) static_cast<void>(callback.release());
  return code;
}

void define_devices(py::module_& rt) {
  plain<aclrtSetDevice>(rt, "set_device");
  plain<aclrtResetDevice>(rt, "reset_device");
  plain<aclrtResetDeviceForce>(rt, "reset_device_force");
  first_out<aclrtGetDevice>(rt, "get_device");
  first_out<aclrtGetDeviceCount>(rt, "get_device_count");
  first_out<aclrtGetRunMode>(rt, "get_run_mode");
  first_out<aclrtGetVersion, 3>(rt, "get_version");
  plain<aclrtSynchronizeDevice>(rt, "synchronize_device");
  plain<aclrtSynchronizeDeviceWithTimeout>(rt, "synchronize_device_with_timeout");
  first_out<aclrtCreateContext>(rt, "create_context");
  plain<aclrtDestroyContext>(rt, "destroy_context");
  plain<aclrtSetCurrentContext>(rt, "set_context");
  first_out<aclrtGetCurrentContext>(rt, "get_context");
  first_out<aclrtCtxGetCurrentDefaultStream>(rt, "ctx_get_current_default_stream");
  first_out<aclrtDeviceGetStreamPriorityRange, 2>(rt, "device_get_stream_priority_range");
  last_out<aclrtGetDeviceResLimit>(rt, "get_device_res_limit");
  plain<aclrtSetDeviceResLimit>(rt, "set_device_res_limit");
  plain<aclrtResetDeviceResLimit>(rt, "reset_device_res_limit");
}

void define_streams(py::module_& rt) {
  first_out<aclrtCreateStream>(rt, "create_stream");
  first_out<aclrtCreateStreamWithConfig>(rt, "create_stream_with_config");
  plain<aclrtDestroyStream>(rt, "destroy_stream");
  plain<aclrtDestroyStreamForce>(rt, "destroy_stream_force");
  plain<aclrtSynchronizeStream>(rt, "synchronize_stream");
  plain<aclrtSynchronizeStreamWithTimeout>(rt, "synchronize_stream_with_timeout");
  last_out<aclrtStreamQuery>(rt, "stream_query");
  plain<aclrtSetStreamFailureMode>(rt, "set_stream_failure_mode");
  plain<aclrtStreamAbort>(rt, "stream_abort");
  first_out<aclrtCreateNotify>(rt, "create_notify");
  plain<aclrtDestroyNotify>(rt, "destroy_notify");
  plain<aclrtRecordNotify>(rt, "record_notify");
  plain<aclrtWaitAndResetNotify>(rt, "wait_and_reset_notify");
  last_out<aclrtGetNotifyId>(rt, "get_notify_id");
  plain<aclrtValueWrite>(rt, "value_write");
  plain<aclrtValueWait>(rt, "value_wait");
  plain<aclrtStreamWaitEvent>(rt, "stream_wait_event");
  first_out<aclrtCreateEvent>(rt, "create_event");
  first_out<aclrtCreateEventWithFlag>(rt, "create_event_with_flag");
  plain<aclrtDestroyEvent>(rt, "destroy_event");
  plain<aclrtRecordEvent>(rt, "record_event");
  plain<aclrtResetEvent>(rt, "reset_event");
  last_out<aclrtQueryEventStatus>(rt, "query_event_status");
  last_out<aclrtQueryEventWaitStatus>(rt, "query_event_wait_status");
  plain<aclrtSynchronizeEvent>(rt, "synchronize_event");
  plain<aclrtSynchronizeEventWithTimeout>(rt, "synchronize_event_with_timeout");
  first_out<aclrtEventElapsedTime>(rt, "event_elapsed_time");
  plain<aclrtSubscribeReport>(rt, "subscribe_report");
  plain<aclrtUnSubscribeReport>(rt, "unsubscribe_report");
  plain<aclrtProcessReport>(rt, "process_report");
  rt.def("launch_callback", &launch_callback);
}

void define_memory(py::module_& rt) {
  first_out<aclrtMalloc>(rt, "malloc");
  first_out<aclrtMallocCached>(rt, "malloc_cached");
  plain<aclrtFree>(rt, "free");
  first_out<aclrtMallocHost>(rt, "malloc_host");
  plain<aclrtFreeHost>(rt, "free_host");
  last_out<aclrtHostRegister>(rt, "host_register");
  plain<aclrtHostUnregister>(rt, "host_unregister");
  plain<aclrtMemset>(rt, "memset");
  plain<aclrtMemsetAsync>(rt, "memset_async");
  plain<aclrtMemcpy>(rt, "memcpy");
  plain<aclrtMemcpyAsync>(rt, "memcpy_async");
  last_out<aclrtGetMemInfo, 2>(rt, "get_mem_info");
}

}  // namespace

void define_runtime(py::module_& rt) {
  define_devices(rt);
  define_streams(rt);
  define_memory(rt);
}

}  // namespace msprof::python
