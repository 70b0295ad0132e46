// Matches the records of a device's tasks. DeviceBatches: wraparounds of the 16-bit task ids.
// TaskPairing: pairs starts with ends.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/device_log.hpp"
#include "import/cann/join/flat_table.hpp"

namespace msprof {

// Finds the batch of a device record: the number of wraparounds of the 16-bit task ids before it.
// The records of a stream are divided at its flips. All records must be added, in any order, before
// find_batch(). Source: cann_device.md 14.2 (native rule).
class DeviceBatches {
 public:
  // Adds a flip. `task_number` is that of the flip task itself. Call before see().
  void add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number);
  // Adds a record to its stream.
  void see(std::uint16_t stream, RecordOrder place, std::uint32_t task_number);
  // Call after the last record.
  void finish();

  // Returns the batch of a record. Call in order of position within each stream.
  std::uint16_t find_batch(std::uint16_t stream, RecordOrder place) {
    if (streams_.empty()) return 0;
    const std::uint32_t number = numbers_.find(stream);
    return number == FlatTable::kNotFound ? 0 : batch_in(streams_[number], place);
  }

 private:
  struct Flip {
    std::uint64_t ticks = 0;
    std::uint16_t task_number = 0;
    // Last position of the batch before the flip.
    RecordOrder cut;
    // Records since the previous flip that are not followed by one with the same or a greater task
    // id. These are sufficient to walk back over small task ids.
    struct Step {
      RecordOrder place;
      std::uint32_t task_number = 0;
    };
    std::vector<Step> steps;

    bool walks() const { return task_number != 0 && task_number != 0xFFFF; }
  };
  struct Stream {
    std::vector<Flip> flips;  // sorted by ticks if is_sorted
    bool is_sorted = false;
    bool walks = false;
    bool has_first = false;
    RecordOrder first;
    std::size_t cursor = 0;
  };

  static std::uint16_t batch_in(Stream& stream, RecordOrder place);
  static void sort(Stream& stream);
  static RecordOrder batch_border(const Stream& stream, std::size_t flip);

  FlatTable numbers_;  // index into streams_ by stream
  std::vector<Stream> streams_;
};

// Pairs starts and ends of tasks by key. If a key has as many ends as starts, the i-th start is
// paired with the i-th end. Otherwise an end is paired with the last start before it, and the other
// starts are given up. Source: cann_device.md 5.3 (native rule).
class TaskPairing {
 public:
  // Index for the data of an open task; reused after release().
  using Slot = std::uint32_t;
  static constexpr Slot kNoSlot = UINT32_MAX;

  static std::uint64_t make_key(std::uint16_t stream, std::uint32_t task_number,
                                std::uint32_t context);

  // First pass, in any order: counts starts and ends.
  void count(std::uint64_t key, bool is_start);
  // Call between the passes.
  void begin();

  // Second pass, in order of time.
  struct Started {
    Slot slot = kNoSlot;
    Slot given_up = kNoSlot;  // start without an end; the caller must release it
  };
  Started start(std::uint64_t key);
  // Returns the task that ends, which the caller must release; kNoSlot if its start is missing.
  Slot end(std::uint64_t key);

  // Returns the first open task of a key.
  Slot first_open(std::uint64_t key) const { return open_.find(key); }
  Slot next_open(Slot slot) const { return links_[slot].next; }
  Slot last_open(std::uint64_t key) const;

  void release(Slot slot) { free_.push_back(slot); }
  // Returns all tasks that are still open, sorted by slot.
  std::vector<Slot> still_open() const;
  // The greatest slot so far, plus one.
  std::size_t slots() const { return links_.size(); }

 private:
  struct Link {
    Slot next = kNoSlot;
    Slot last = kNoSlot;  // last slot of the chain; valid in its first slot only
  };
  Slot take_slot();

  FlatTable balance_;  // starts - ends, mod 2^32; keys with balance 0 are absent
  FlatTable open_;     // first slot by key
  std::vector<Link> links_;
  std::vector<Slot> free_;
};

}  // namespace msprof
