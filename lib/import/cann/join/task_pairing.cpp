#include "import/cann/join/task_pairing.hpp"

#include <algorithm>

#include "import/cann/join/host_tasks.hpp"

namespace msprof {

namespace {

// Added to balances so that none of them is FlatTable::kNone.
constexpr std::uint32_t kEven = std::uint32_t{1} << 31;

}  // namespace

std::uint64_t TaskPairing::key_of(std::uint16_t stream, std::uint16_t task_number,
                                  std::uint32_t context) {
  // Contexts of records have 16 bits; "none" comes behind them.
  const std::uint64_t narrow = context == kNoContext ? 0x10000U : context & 0xFFFFU;
  return narrow << 32 | static_cast<std::uint64_t>(task_number) << 16 | stream;
}

void TaskPairing::count(std::uint64_t key, bool is_start) {
  const std::uint32_t found = balance_.find(key);
  const std::uint32_t before = found == FlatTable::kNone ? kEven : found;
  const std::uint32_t after = is_start ? before + 1 : before - 1;
  if (after == kEven) {
    balance_.erase(key);
  } else {
    balance_.set(key, after);
  }
}

void TaskPairing::begin() {
  links_.clear();
  free_.clear();
  open_ = {};
}

TaskPairing::Slot TaskPairing::take_slot() {
  if (!free_.empty()) {
    const Slot slot = free_.back();
    free_.pop_back();
    links_[slot] = {};
    return slot;
  }
  links_.emplace_back();
  return static_cast<Slot>(links_.size() - 1);
}

TaskPairing::Started TaskPairing::start(std::uint64_t key) {
  Started started;
  started.slot = take_slot();
  links_[started.slot].last = started.slot;
  const Slot first = open_.find(key);
  if (first == kNone) {
    open_.set(key, started.slot);
  } else if (balance_.find(key) != FlatTable::kNone) {
    started.given_up = first;
    open_.set(key, started.slot);
  } else {
    links_[links_[first].last].next = started.slot;
    links_[first].last = started.slot;
  }
  return started;
}

TaskPairing::Slot TaskPairing::end(std::uint64_t key) {
  const Slot first = open_.find(key);
  if (first == kNone) return kNone;
  const Slot next = links_[first].next;
  if (next == kNone) {
    open_.erase(key);
  } else {
    links_[next].last = links_[first].last;
    open_.set(key, next);
  }
  return first;
}

TaskPairing::Slot TaskPairing::last_open(std::uint64_t key) const {
  const Slot first = open_.find(key);
  return first == kNone ? kNone : links_[first].last;
}

std::vector<TaskPairing::Slot> TaskPairing::still_open() const {
  std::vector<Slot> slots;
  open_.for_each([&](std::uint64_t, std::uint32_t first) {
    for (Slot slot = first; slot != kNone; slot = links_[slot].next) slots.push_back(slot);
  });
  std::sort(slots.begin(), slots.end());
  return slots;
}

}  // namespace msprof
