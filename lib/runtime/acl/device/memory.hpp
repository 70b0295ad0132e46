// Memory of devices and of the host: ordinary memory, of which is known what it was allocated as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace msprof::acl {

// Registered memory is the application's own, and is not freed here.
enum class MemoryKind : std::uint8_t { device, host, registered };

struct MemoryBlock {
  std::size_t size;
  MemoryKind kind;
  std::uint16_t device;
};

class Memory {
 public:
  // Null where there is none. `size` is not 0.
  void* allocate(std::size_t size, MemoryKind kind, std::uint16_t device);
  // What was freed; nothing for what was not allocated as this kind, or is freed already.
  std::optional<MemoryBlock> release(void* memory, MemoryKind kind);
  // Makes memory of the application known; false where a part of it is known already.
  bool add_registered(const void* memory, std::size_t size, std::uint16_t device);
  // The block that has this address in it; nothing for memory that is not known here.
  std::optional<MemoryBlock> find(const void* address) const;
  // True inside of memory that was allocated for a device.
  bool is_device_memory(const void* address) const;
  // Of one device.
  std::uint64_t allocated_bytes(std::uint16_t device) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, MemoryBlock> blocks_;
  std::map<std::uint16_t, std::uint64_t> allocated_;  // device memory, by device
};

}  // namespace msprof::acl
