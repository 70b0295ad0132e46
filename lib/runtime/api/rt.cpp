// Device, context, stream and memory of a host: one device, synchronous streams, ordinary memory.
#include <cstdlib>

#include "runtime/api/runtime_state.hpp"
#include "runtime/include/svp_acl_rt.h"

namespace {

using msprof::runtime::ApiId;
using msprof::runtime::guarded;
using msprof::runtime::RecordedCall;

struct Context {
  int32_t device;
};
struct Stream {};

constexpr int32_t kNoDevice = -1;
// Whole cache lines, and what vector loads like best.
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

// A call whose body is recorded under this number.
template <typename Body>
svp_acl_error recorded(const char* function, ApiId api, Body body) {
  return guarded(function, [&]() -> svp_acl_error {
    const RecordedCall call(api);
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
  *run_mode = SVP_ACL_DEVICE;  // memory is shared, as on a board: nothing has to be copied across
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
