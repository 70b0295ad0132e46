#include "runtime/acl/device/memory.hpp"

#include <cstdlib>
#include <iterator>

namespace msprof::acl {
namespace {

// One cache line, also the best alignment for vector loads.
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
  if (kind != MemoryKind::registered) std::free(memory);
  return block;
}

bool Memory::add_registered(const void* memory, std::size_t size, std::uint16_t device) {
  const std::lock_guard lock(mutex_);
  const auto next = blocks_.lower_bound(number(memory));
  if (next != blocks_.end() && next->first - number(memory) < size) return false;
  if (next != blocks_.begin()) {
    const auto before = std::prev(next);
    if (number(memory) - before->first < before->second.size) return false;
  }
  blocks_.emplace(number(memory), MemoryBlock{size, MemoryKind::registered, device});
  return true;
}

std::optional<MemoryBlock> Memory::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  auto it = blocks_.upper_bound(number(address));
  if (it == blocks_.begin()) return std::nullopt;
  --it;
  if (number(address) - it->first >= it->second.size) return std::nullopt;
  return it->second;
}

bool Memory::is_device_memory(const void* address) const {
  const std::optional<MemoryBlock> block = find(address);
  return block && block->kind == MemoryKind::device;
}

std::uint64_t Memory::allocated_bytes(std::uint16_t device) const {
  const std::lock_guard lock(mutex_);
  const auto it = allocated_.find(device);
  return it == allocated_.end() ? 0 : it->second;
}

}  // namespace msprof::acl
