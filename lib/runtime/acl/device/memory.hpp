// Tracks device and host memory. Both are ordinary memory; each block stores the kind given at its
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace msprof::acl {

// Registered memory belongs to the application and is not freed here.
enum class MemoryKind : std::uint8_t { device, host, registered };

struct MemoryBlock {
  std::size_t size;
  MemoryKind kind;
  std::uint16_t device;
};

class Memory {
 public:
  // Null if out of memory. `size` must not be 0.
  void* allocate(std::size_t size, MemoryKind kind, std::uint16_t device);
  // Returns the freed block; empty if the address was not allocated as this kind or is already
  // freed.
  std::optional<MemoryBlock> release(void* memory, MemoryKind kind);
  // Registers memory of the application. Returns false if a part of it is already registered or
  // allocated here.
  bool add_registered(const void* memory, std::size_t size, std::uint16_t device);
  // Returns the block that contains the address; empty if unknown.
  std::optional<MemoryBlock> find(const void* address) const;
  bool is_device_memory(const void* address) const;
  // Total for one device.
  std::uint64_t allocated_bytes(std::uint16_t device) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, MemoryBlock> blocks_;
  std::map<std::uint16_t, std::uint64_t> allocated_;  // device memory, by device
};

}  // namespace msprof::acl
