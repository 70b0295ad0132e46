// What is open, by number: ranges of stamps and of mstx. Any thread puts or takes, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace msprof::mstx {

// A number's place is number % kSlots; it holds one at a time. The state of a place is the number
// that has it and a phase; 0: free.
template <typename Content, std::size_t kSlots>
class SlotTable {
 public:
  // Has fill(content) write what belongs to the number, from 1. False where its place is taken.
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

  // Calls use(content), which says whether the number is gone with that. False for a number that is
  // not here.
  template <typename Use>
  bool take(std::uint64_t number, Use&& use) {
    Slot& slot = slots_[number % kSlots];
    std::uint64_t seen = state(number, kOpen);
    while (!slot.state.compare_exchange_weak(
        seen, state(number, kChanging), std::memory_order_acquire, std::memory_order_relaxed)) {
      // Another thread looks at the same number, which may stay.
      if (seen != state(number, kOpen) && seen != state(number, kChanging)) return false;
      seen = state(number, kOpen);
    }
    const bool is_gone = use(slot.content);
    slot.state.store(is_gone ? 0 : state(number, kOpen), std::memory_order_release);
    return is_gone;
  }

  // Of numbers that are neither put nor taken at the moment.
  template <typename Use>
  void for_each(Use&& use) {
    for (Slot& slot : slots_) {
      if ((slot.state.load(std::memory_order_acquire) & kOpen) != 0) use(slot.content);
    }
  }

  // By the only thread there is.
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
