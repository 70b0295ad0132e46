// Initialization, data buffers, device, context, stream and memory of a host: one device,
// synchronous streams, ordinary memory.
#include <cstdlib>
#include <new>

#include "runtime/svp/api/runtime_state.hpp"
#include "runtime/svp/include/svp_acl.h"
#include "runtime/svp/include/svp_acl_base.h"
#include "runtime/svp/include/svp_acl_rt.h"

using msprof::runtime::guarded;
using msprof::runtime::RuntimeState;

extern "C" {

svp_acl_error svp_acl_init(const char* config_path) {
  return guarded(__func__, [&] { return RuntimeState::instance().init(config_path); });
}

svp_acl_error svp_acl_finalize() {
  return guarded(__func__, [] { return RuntimeState::instance().finalize(); });
}

svp_acl_data_buffer* svp_acl_create_data_buffer(void* data, size_t size, size_t stride) {
  return new (std::nothrow) svp_acl_data_buffer{data, size, stride};
}

svp_acl_error svp_acl_destroy_data_buffer(const svp_acl_data_buffer* data_buffer) {
  if (data_buffer == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  delete data_buffer;
  return SVP_ACL_SUCCESS;
}

void* svp_acl_get_data_buffer_addr(const svp_acl_data_buffer* data_buffer) {
  return data_buffer == nullptr ? nullptr : data_buffer->data;
}

size_t svp_acl_get_data_buffer_size(const svp_acl_data_buffer* data_buffer) {
  return data_buffer == nullptr ? 0 : data_buffer->size;
}

size_t svp_acl_get_data_buffer_stride(const svp_acl_data_buffer* data_buffer) {
  return data_buffer == nullptr ? 0 : data_buffer->stride;
}

svp_acl_error svp_acl_update_data_buffer(svp_acl_data_buffer* data_buffer, void* data, size_t size,
                                         size_t stride) {
  if (data_buffer == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *data_buffer = {data, size, stride};
  return SVP_ACL_SUCCESS;
}

size_t svp_acl_data_type_size(svp_acl_data_type data_type) {
  switch (data_type) {
    case SVP_ACL_INT8:
    case SVP_ACL_UINT8:
    case SVP_ACL_BOOL:
      return 1;
    case SVP_ACL_FLOAT16:
    case SVP_ACL_INT16:
    case SVP_ACL_UINT16:
      return 2;
    case SVP_ACL_FLOAT:
    case SVP_ACL_INT32:
    case SVP_ACL_UINT32:
      return 4;
    case SVP_ACL_INT64:
    case SVP_ACL_UINT64:
    case SVP_ACL_DOUBLE:
      return 8;
    case SVP_ACL_INT24:
    case SVP_ACL_UINT24:
      return 3;
    default:  // types without a whole number of bytes
      return 0;
  }
}

}  // extern "C"

namespace {

using msprof::runtime::ApiId;
using msprof::runtime::RecordedSvpCall;

struct Context {
  int32_t device;
};
struct Stream {};

constexpr int32_t kNoDevice = -1;
// One cache line, also the best alignment for vector loads.
constexpr std::size_t kAlignment = 64;

thread_local int32_t current_device = kNoDevice;
thread_local Context* current_context = nullptr;

svp_acl_error allocate(void** memory, std::size_t size) {
  if (memory == nullptr || size == 0) return SVP_ACL_ERROR_INVALID_PARAM;
  return posix_memalign(memory, kAlignment, size) == 0 ? SVP_ACL_SUCCESS : SVP_ACL_ERROR_BAD_ALLOC;
}

svp_acl_error release(const void* memory) {
  if (memory == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  std::free(const_cast<void*>(memory));
  return SVP_ACL_SUCCESS;
}

template <typename Body>
svp_acl_error recorded(const char* function, ApiId api, Body body) {
  return guarded(function, [&]() -> svp_acl_error {
    const RecordedSvpCall call(api);
    return body();
  });
}

}  // namespace

extern "C" {

svp_acl_error svp_acl_rt_set_device(int32_t device_id) {
  return recorded(__func__, ApiId::kSetDevice, [&] {
    if (device_id != 0) return SVP_ACL_ERROR_INVALID_PARAM;
    current_device = device_id;
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_rt_reset_device(int32_t device_id) {
  return recorded(__func__, ApiId::kResetDevice, [&] {
    if (device_id != 0) return SVP_ACL_ERROR_INVALID_PARAM;
    current_device = kNoDevice;
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_rt_get_device(int32_t* device_id) {
  if (device_id == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  const int32_t device = current_context != nullptr ? current_context->device : current_device;
  if (device == kNoDevice) return SVP_ACL_ERROR_UNINITIALIZE;
  *device_id = device;
  return SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_get_run_mode(svp_acl_rt_run_mode* run_mode) {
  if (run_mode == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *run_mode = SVP_ACL_DEVICE;  // memory is shared, as on a board: no copies between host and device
  return SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_synchronize_device() {
  return SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_get_device_count(uint32_t* count) {
  if (count == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *count = 1;
  return SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_create_context(svp_acl_rt_context* context, int32_t device_id) {
  return recorded(__func__, ApiId::kCreateContext, [&] {
    if (context == nullptr || device_id != 0) return SVP_ACL_ERROR_INVALID_PARAM;
    current_context = new Context{device_id};
    *context = current_context;
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_rt_destroy_context(svp_acl_rt_context context) {
  return recorded(__func__, ApiId::kDestroyContext, [&] {
    if (context == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    if (current_context == context) current_context = nullptr;
    delete static_cast<Context*>(context);
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_rt_set_current_context(svp_acl_rt_context context) {
  if (context == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  current_context = static_cast<Context*>(context);
  return SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_get_current_context(svp_acl_rt_context* context) {
  if (context == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *context = current_context;
  return current_context == nullptr ? SVP_ACL_ERROR_UNINITIALIZE : SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_create_stream(svp_acl_rt_stream* stream) {
  return recorded(__func__, ApiId::kCreateStream, [&] {
    if (stream == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    *stream = new Stream;
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_rt_destroy_stream(svp_acl_rt_stream stream) {
  return recorded(__func__, ApiId::kDestroyStream, [&] {
    if (stream == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    delete static_cast<Stream*>(stream);
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_rt_synchronize_stream(svp_acl_rt_stream) {
  return recorded(__func__, ApiId::kSynchronizeStream, [] { return SVP_ACL_SUCCESS; });
}

svp_acl_error svp_acl_rt_malloc(void** dev_ptr, size_t size, svp_acl_rt_mem_malloc_policy) {
  return recorded(__func__, ApiId::kMalloc, [&] { return allocate(dev_ptr, size); });
}

svp_acl_error svp_acl_rt_malloc_cached(void** dev_ptr, size_t size, svp_acl_rt_mem_malloc_policy) {
  return allocate(dev_ptr, size);
}

svp_acl_error svp_acl_rt_free(const void* dev_ptr) {
  return recorded(__func__, ApiId::kFree, [&] { return release(dev_ptr); });
}

svp_acl_error svp_acl_rt_malloc_host(void** host_ptr, size_t size) {
  return allocate(host_ptr, size);
}

svp_acl_error svp_acl_rt_free_host(const void* host_ptr) {
  return release(host_ptr);
}

svp_acl_error svp_acl_rt_mem_flush(const void* dev_ptr, size_t size) {
  return dev_ptr == nullptr || size == 0 ? SVP_ACL_ERROR_INVALID_PARAM : SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_rt_mem_invalidate(const void* dev_ptr, size_t size) {
  return dev_ptr == nullptr || size == 0 ? SVP_ACL_ERROR_INVALID_PARAM : SVP_ACL_SUCCESS;
}

}  // extern "C"
