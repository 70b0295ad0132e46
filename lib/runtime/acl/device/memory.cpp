#include "runtime/acl/device/memory.hpp"

#include <cstdlib>

namespace msprof::acl {
namespace {

// Whole cache lines, and what vector loads like best.
constexpr std::size_t kAlignment = 64;

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

void* Memory::allocate(std::size_t size, MemoryKind kind, std::uint16_t device) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, size) != 0) return nullptr;
  try {
    const std::lock_guard lock(mutex_);
    blocks_.insert_or_assign(number(memory), Block{size, kind, device});
  } catch (...) {
    std::free(memory);
    throw;
  }
  return memory;
}

bool Memory::release(void* memory, MemoryKind kind) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(number(memory));
    if (it == blocks_.end() || it->second.kind != kind) return false;
    blocks_.erase(it);
  }
  std::free(memory);
  return true;
}

bool Memory::is_device_memory(const void* address) const {
  const std::lock_guard lock(mutex_);
  auto it = blocks_.upper_bound(number(address));
  if (it == blocks_.begin()) return false;
  --it;
  return it->second.kind == MemoryKind::device && number(address) - it->first < it->second.size;
}

std::uint64_t Memory::allocated_bytes(std::uint16_t device) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [address, block] : blocks_) {
    if (block.kind == MemoryKind::device && block.device == device) sum += block.size;
  }
  return sum;
}

}  // namespace msprof::acl
