// Memory of devices and of the host: ordinary memory, of which is known what it was allocated as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace msprof::acl {

enum class MemoryKind : std::uint8_t { device, host };

class Memory {
 public:
  // Null where there is none. `size` is not 0.
  void* allocate(std::size_t size, MemoryKind kind, std::uint16_t device);
  // False for what was not allocated as this kind, or is freed already.
  bool release(void* memory, MemoryKind kind);
  // True inside of memory that was allocated for a device.
  bool is_device_memory(const void* address) const;
  // Of one device.
  std::uint64_t allocated_bytes(std::uint16_t device) const;

 private:
  struct Block {
    std::size_t size;
    MemoryKind kind;
    std::uint16_t device;
  };

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_;
};

}  // namespace msprof::acl
