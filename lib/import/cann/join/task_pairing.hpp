// TaskPairing: which end belongs to which start of a task, told apart by a key. The i-th start has
// the i-th end where a key has as many of both; else an end belongs to the last start before it,
// and the others are given up. Sources: cann_device.md 5.3 (native rule), cann_corrections.md C6.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/join/flat_table.hpp"

namespace msprof {

class TaskPairing {
 public:
  // A place for what is known about an open task; given again after release().
  using Slot = std::uint32_t;
  static constexpr Slot kNone = UINT32_MAX;

  static std::uint64_t key_of(std::uint16_t stream, std::uint16_t task_number,
                              std::uint32_t context);

  // First pass, in any order: how many starts and ends there are.
  void count(std::uint64_t key, bool is_start);
  // Between the passes.
  void begin();

  // Second pass, in order of time.
  struct Started {
    Slot slot = kNone;
    Slot given_up = kNone;  // a start whose end will not come; to be released
  };
  Started start(std::uint64_t key);
  // The task that ends, to be released; kNone: its start is missing.
  Slot end(std::uint64_t key);

  // The open tasks of a key, the earliest first.
  Slot first_open(std::uint64_t key) const { return open_.find(key); }
  Slot next_open(Slot slot) const { return links_[slot].next; }
  Slot last_open(std::uint64_t key) const;

  void release(Slot slot) { free_.push_back(slot); }
  // All that are open still, by slot.
  std::vector<Slot> still_open() const;
  // One more than the greatest slot so far.
  std::size_t slots() const { return links_.size(); }

 private:
  struct Link {
    Slot next = kNone;
    Slot last = kNone;  // of the chain; right in its first slot only
  };
  Slot take_slot();

  FlatTable balance_;  // starts - ends, mod 2^32; keys with as many of both are not in it
  FlatTable open_;     // first slot by key
  std::vector<Link> links_;
  std::vector<Slot> free_;
};

}  // namespace msprof
