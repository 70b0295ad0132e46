// Table of open ranges (stamps and mstx) by number. Lock-free: any thread may put and take.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace msprof::mstx {

// Number n belongs in slot n % kSlots, which holds one number at a time. The state of a slot
// combines its number and a phase; 0: free.
template <typename Content, std::size_t kSlots>
class SlotTable {
 public:
  // Calls fill(content) to write the content of `number` (1 or more). Returns false if the slot is
  // in use.
  template <typename Fill>
  bool put(std::uint64_t number, Fill&& fill) {
    Slot& slot = slots_[number % kSlots];
    std::uint64_t free = 0;
    if (!slot.state.compare_exchange_strong(free, state(number, kChanging),
                                            std::memory_order_acquire, std::memory_order_relaxed))
      return false;
    fill(slot.content);
    slot.state.store(state(number, kOpen), std::memory_order_release);
    return true;
  }

  // Calls use(content), which returns whether to remove the number. Returns true if the number was
  // removed; false if it is not in the table or is kept.
  template <typename Use>
  bool take(std::uint64_t number, Use&& use) {
    Slot& slot = slots_[number % kSlots];
    std::uint64_t seen = state(number, kOpen);
    while (!slot.state.compare_exchange_weak(
        seen, state(number, kChanging), std::memory_order_acquire, std::memory_order_relaxed)) {
      // Another thread is using the same number and may keep it: retry.
      if (seen != state(number, kOpen) && seen != state(number, kChanging)) return false;
      seen = state(number, kOpen);
    }
    const bool is_gone = use(slot.content);
    slot.state.store(is_gone ? 0 : state(number, kOpen), std::memory_order_release);
    return is_gone;
  }

  // Calls use(content) for every open number; skips those being put or taken.
  template <typename Use>
  void for_each(Use&& use) {
    for (Slot& slot : slots_) {
      if ((slot.state.load(std::memory_order_acquire) & kOpen) != 0) use(slot.content);
    }
  }

  // Clears the table. Requires that no other thread uses it.
  void forget() {
    for (Slot& slot : slots_) slot.state.store(0, std::memory_order_relaxed);
  }

 private:
  enum Phase : std::uint64_t { kChanging = 1, kOpen = 2 };
  static std::uint64_t state(std::uint64_t number, Phase phase) { return number << 2U | phase; }

  struct Slot {
    std::atomic<std::uint64_t> state{0};
    Content content;
  };
  std::array<Slot, kSlots> slots_;
};

}  // namespace msprof::mstx
