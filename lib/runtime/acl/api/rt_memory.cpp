// Memory: allocate, copy, fill. Device memory is memory of the process.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "acl/acl_rt.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/launch.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

// A rectangle; a plain copy has one row.
struct Copy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;
  CopyDirection direction;

  void run() const {
    for (std::size_t row = 0; row < height; ++row) {
      std::memmove(static_cast<char*>(to) + row * to_pitch,
                   static_cast<const char*>(from) + row * from_pitch, width);
    }
  }
};

CopyDirection to_direction(aclrtMemcpyKind kind, const void* to, const void* from) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      return CopyDirection::host_to_host;
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return CopyDirection::host_to_device;
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return CopyDirection::device_to_host;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      return CopyDirection::device_to_device;
    case ACL_MEMCPY_DEFAULT: {
      const Memory& memory = Runtime::instance().memory;
      if (memory.is_device_memory(from)) {
        return memory.is_device_memory(to) ? CopyDirection::device_to_device
                                           : CopyDirection::device_to_host;
      }
      return memory.is_device_memory(to) ? CopyDirection::host_to_device
                                         : CopyDirection::host_to_host;
    }
  }
  throw Failure(ACL_ERROR_INVALID_PARAM);
}

Copy plain_copy(void* to, std::size_t room, const void* from, std::size_t count,
                aclrtMemcpyKind kind) {
  require(to, from);
  if (count > room) throw Failure(ACL_ERROR_INVALID_PARAM);
  return {to, count, from, count, count, 1, to_direction(kind, to, from)};
}

Copy rectangle(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, aclrtMemcpyKind kind) {
  require(to, from);
  if (width > to_pitch || width > from_pitch) throw Failure(ACL_ERROR_INVALID_PARAM);
  return {to, to_pitch, from, from_pitch, width, height, to_direction(kind, to, from)};
}

// Runs `work` on the calling thread, recorded as a task with a stream id that no other such task
// uses.
template <typename RecordLaunch, typename Work>
void run_here(TaskKind kind, RecordLaunch record_launch, Work work) {
  const std::shared_ptr<Context> context = Runtime::instance().current_context();
  if (!is_recording()) {
    work();
    return;
  }
  const std::uint64_t called_ns = msprof::runtime::monotonic_ns();
  const CopyLane lane(Runtime::instance().find_device(*context));
  RanTask ran;
  ran.kind = kind;
  ran.ids = {context->device, lane.stream(), lane.sequence()};
  record_launch(Launch{ran.ids, called_ns, msprof::runtime::monotonic_ns()});
  ran.begin_ns = msprof::runtime::monotonic_ns();
  work();
  ran.end_ns = msprof::runtime::monotonic_ns();
  record_task(ran);
}

void copy_here(const Copy& copy) {
  run_here(
      TaskKind::memcpy_async,
      [&](const Launch& launch) {
        record_copy_launch(launch, copy.width * copy.height, copy.direction);
      },
      [&] { copy.run(); });
}

void copy_on(aclrtStream stream, const Copy& copy) {
  RanTask ran;
  ran.kind = TaskKind::memcpy_async;
  launch_task(
      *Runtime::instance().stream(stream), ran,
      [copy](const Launch& launch) {
        record_copy_launch(launch, copy.width * copy.height, copy.direction);
      },
      [copy](Stream&) -> int {
        copy.run();
        return ACL_SUCCESS;
      });
}

void check_fill(const void* memory, std::size_t room, std::size_t count) {
  require(memory);
  if (count > room) throw Failure(ACL_ERROR_INVALID_PARAM);
}

// Records an allocation or release by the application, which belongs to no operator.
void record_change(const void* memory, std::uint16_t device, std::int64_t bytes) {
  if (!is_recording()) return;
  const std::uint64_t allocated = Runtime::instance().memory.allocated_bytes(device);
  record_memory(device, "", reinterpret_cast<std::uintptr_t>(memory), bytes, allocated, allocated);
}

void allocate(void** memory, std::size_t size, MemoryKind kind) {
  require(memory);
  if (size == 0) throw Failure(ACL_ERROR_INVALID_PARAM);
  Runtime& runtime = Runtime::instance();
  const std::uint16_t device = runtime.current_context()->device;
  void* made = runtime.memory.allocate(size, kind, device);
  if (made == nullptr) throw Failure(ACL_ERROR_BAD_ALLOC);
  if (kind == MemoryKind::device) record_change(made, device, static_cast<std::int64_t>(size));
  *memory = made;
}

aclError release(void* memory, MemoryKind kind) {
  require(memory);
  const std::optional<MemoryBlock> freed = Runtime::instance().memory.release(memory, kind);
  if (!freed) return ACL_ERROR_RT_PARAM_INVALID;
  if (kind == MemoryKind::device) {
    record_change(memory, freed->device, -static_cast<std::int64_t>(freed->size));
  }
  return ACL_SUCCESS;
}

// Returns the direction of one copy in a batch. The memory must be where the attributes say.
CopyDirection to_direction(const aclrtMemcpyBatchAttr& attributes, const void* to,
                           const void* from) {
  const Memory& memory = Runtime::instance().memory;
  const bool to_device = attributes.dstLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  const bool from_device = attributes.srcLoc.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  if (memory.is_device_memory(to) != to_device || memory.is_device_memory(from) != from_device)
    throw Failure(ACL_ERROR_RT_PARAM_INVALID,
                  "the memory is not at the location of its attributes");
  if (from_device)
    return to_device ? CopyDirection::device_to_device : CopyDirection::device_to_host;
  return to_device ? CopyDirection::host_to_device : CopyDirection::host_to_host;
}

// The parameters of aclrtMemcpyBatch.
struct Batch {
  void** to;
  const std::size_t* room;
  void** from;
  const std::size_t* sizes;
  std::size_t count;
  const aclrtMemcpyBatchAttr* attributes;
  const std::size_t* first_copies;
  std::size_t attribute_count;

  // Returns all copies. If one is rejected, *failed is its index.
  std::vector<Copy> copies(std::size_t* failed) const {
    require(to, room, from, sizes, attributes, first_copies, failed);
    *failed = SIZE_MAX;
    if (count == 0 || attribute_count == 0 || attribute_count > count || first_copies[0] != 0)
      throw Failure(ACL_ERROR_INVALID_PARAM);
    for (std::size_t k = 0; k < attribute_count; ++k) {
      const bool rises = k == 0 || first_copies[k] > first_copies[k - 1];
      if (!rises || first_copies[k] >= count) throw Failure(ACL_ERROR_INVALID_PARAM);
    }
    std::vector<Copy> all;
    std::size_t k = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (k + 1 < attribute_count && first_copies[k + 1] == i) ++k;
      *failed = i;
      require(to[i], from[i]);
      if (sizes[i] > room[i]) throw Failure(ACL_ERROR_INVALID_PARAM);
      all.push_back({to[i], sizes[i], from[i], sizes[i], sizes[i], 1,
                     to_direction(attributes[k], to[i], from[i])});
    }
    *failed = SIZE_MAX;
    return all;
  }
};

void check_registration(const void* memory, std::uint64_t size, aclrtHostRegisterType type,
                        void** device_memory) {
  require(memory, device_memory);
  if (size == 0 || size > SIZE_MAX - reinterpret_cast<std::uintptr_t>(memory) ||
      type != ACL_HOST_REGISTER_MAPPED)
    throw Failure(ACL_ERROR_INVALID_PARAM);
}

aclrtMemLocation to_location(const std::optional<MemoryBlock>& block) {
  if (!block) return {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
  if (block->kind == MemoryKind::device) return {block->device, ACL_MEM_LOCATION_TYPE_DEVICE};
  return {0, ACL_MEM_LOCATION_TYPE_HOST};
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return recorded(__func__, Call::aclrtMalloc, [&] { allocate(devPtr, size, MemoryKind::device); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return recorded(__func__, Call::aclrtMallocCached,
                  [&] { allocate(devPtr, size, MemoryKind::device); });
}

aclError aclrtFree(void* devPtr) {
  return recorded(__func__, Call::aclrtFree, [&] { return release(devPtr, MemoryKind::device); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return recorded(__func__, Call::aclrtMallocHost,
                  [&] { allocate(hostPtr, size, MemoryKind::host); });
}

aclError aclrtFreeHost(void* hostPtr) {
  return recorded(__func__, Call::aclrtFreeHost,
                  [&] { return release(hostPtr, MemoryKind::host); });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return recorded(__func__, Call::aclrtMallocHostWithCfg, [&] {
    if (cfg != nullptr && cfg->numAttrs > 0) require(cfg->attrs);
    allocate(ptr, size, MemoryKind::host);
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return recorded(__func__, Call::aclrtHostRegister, [&] {
    check_registration(ptr, size, type, devPtr);
    Runtime& runtime = Runtime::instance();
    if (!runtime.memory.add_registered(ptr, size, runtime.current_context()->device))
      throw Failure(ACL_ERROR_RT_PARAM_INVALID, "the memory is allocated or registered here");
    *devPtr = ptr;
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return recorded(__func__, Call::aclrtHostUnregister,
                  [&] { return release(ptr, MemoryKind::registered); });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return guarded(__func__, [&] {
    require(ptr, attributes);
    const std::optional<MemoryBlock> block = Runtime::instance().memory.find(ptr);
    *attributes = {};
    attributes->location = to_location(block);
    if (block) attributes->pageSize = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return recorded(__func__, Call::aclrtMemset, [&] {
    check_fill(devPtr, maxCount, count);
    run_here(
        TaskKind::memset_async,
        [](const Launch& launch) { record_task_launch(launch, TaskKind::memset_async); },
        [&] { std::memset(devPtr, value, count); });
  });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return recorded(__func__, Call::aclrtMemsetAsync, [&] {
    check_fill(devPtr, maxCount, count);
    launch_task(*Runtime::instance().stream(stream), TaskKind::memset_async, [=](Stream&) -> int {
      std::memset(devPtr, value, count);
      return ACL_SUCCESS;
    });
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return recorded(__func__, Call::aclrtMemcpy,
                  [&] { copy_here(plain_copy(dst, destMax, src, count, kind)); });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return recorded(__func__, Call::aclrtMemcpyAsync,
                  [&] { copy_on(stream, plain_copy(dst, destMax, src, count, kind)); });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return recorded(__func__, Call::aclrtMemcpy2d,
                  [&] { copy_here(rectangle(dst, dpitch, src, spitch, width, height, kind)); });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return recorded(__func__, Call::aclrtMemcpy2dAsync, [&] {
    copy_on(stream, rectangle(dst, dpitch, src, spitch, width, height, kind));
  });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMax, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIndex) {
  return recorded(__func__, Call::aclrtMemcpyBatch, [&] {
    const Batch batch{dsts, destMax, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    for (const Copy& copy : batch.copies(failIndex)) copy_here(copy);
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMax, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  return recorded(__func__, Call::aclrtMemcpyBatchAsync, [&] {
    const Batch batch{dsts, destMax, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
    for (const Copy& copy : batch.copies(failIndex)) copy_on(stream, copy);
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return recorded(__func__, Call::aclrtGetMemInfo, [&] {
    require(free, total);
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) throw Failure(ACL_ERROR_INVALID_PARAM);
    Runtime::instance().current_context();
    // A device uses the memory of the host.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    *total = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page;
    *free = std::min(*total, static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page);
  });
}

}  // extern "C"
