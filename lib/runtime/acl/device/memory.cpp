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
    blocks_.insert_or_assign(number(memory), MemoryBlock{size, kind, device});
    if (kind == MemoryKind::device) allocated_[device] += size;
  } catch (...) {
    std::free(memory);
    throw;
  }
  return memory;
}

std::optional<MemoryBlock> Memory::release(void* memory, MemoryKind kind) {
  MemoryBlock block;
  {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(number(memory));
    if (it == blocks_.end() || it->second.kind != kind) return std::nullopt;
    block = it->second;
    blocks_.erase(it);
    if (kind == MemoryKind::device) allocated_[block.device] -= block.size;
  }
  std::free(memory);
  return block;
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
  const auto it = allocated_.find(device);
  return it == allocated_.end() ? 0 : it->second;
}

}  // namespace msprof::acl
