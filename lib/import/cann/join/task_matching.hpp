// Matching of the records of one task of a device: DeviceBatches, the turns of the 16-bit task ids,
// and TaskPairing, starts and their ends.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/join/flat_table.hpp"

namespace msprof {

// Position of a record in the order of time: its ticks, then its number in reading order.
struct RecordOrder {
  std::uint64_t ticks = 0;
  std::uint64_t sequence = 0;

  bool operator<(const RecordOrder& other) const {
    return ticks != other.ticks ? ticks < other.ticks : sequence < other.sequence;
  }
};

// Finds the turn of the 16-bit task ids that a device record belongs to. The records of a stream
// are cut at its flips; all records are seen once, in any order, before the first question.
// Source: cann_device.md 14.2 (native rule).
class DeviceBatches {
 public:
  // Adds a flip; `task_number` is the flip task's own; before the first record.
  void add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number);
  // Adds a record of the kind that is cut.
  void see(std::uint16_t stream, RecordOrder place, std::uint32_t task_number);
  // Completes the counts after the last record.
  void finish();

  // Returns the batch of a record; the positions of a stream come in order.
  std::uint16_t batch_of(std::uint16_t stream, RecordOrder place) {
    if (streams_.empty()) return 0;
    const std::uint32_t number = numbers_.find(stream);
    return number == FlatTable::kNone ? 0 : batch_in(streams_[number], place);
  }

 private:
  struct Flip {
    std::uint64_t ticks = 0;
    std::uint16_t task_number = 0;
    // Last position of the batch before it.
    RecordOrder cut;
    // Records since the flip before that no later one with a greater task id hides:
    // enough to walk back over small task ids.
    struct Step {
      RecordOrder place;
      std::uint32_t task_number = 0;
    };
    std::vector<Step> steps;

    bool walks() const { return task_number != 0 && task_number != 0xFFFF; }
  };
  struct Stream {
    std::vector<Flip> flips;  // by ticks, once sorted
    bool is_sorted = false;
    bool walks = false;
    bool has_first = false;
    RecordOrder first;
    std::size_t cursor = 0;
  };

  static std::uint16_t batch_in(Stream& stream, RecordOrder place);
  static void sort(Stream& stream);
  static RecordOrder cut_of(const Stream& stream, std::size_t flip);

  FlatTable numbers_;  // of streams
  std::vector<Stream> streams_;
};

// Pairs starts and ends of tasks, which a key distinguishes. The i-th start has
// the i-th end if a key has as many of both; else an end belongs to the last start before it,
// and the others are given up. Source: cann_device.md 5.3 (native rule).
class TaskPairing {
 public:
  // Index for the data of an open task; given again after release().
  using Slot = std::uint32_t;
  static constexpr Slot kNone = UINT32_MAX;

  static std::uint64_t key_of(std::uint16_t stream, std::uint32_t task_number,
                              std::uint32_t context);

  // First pass, in any order: counts starts and ends.
  void count(std::uint64_t key, bool is_start);
  // Between the passes.
  void begin();

  // Second pass, in order of time.
  struct Started {
    Slot slot = kNone;
    Slot given_up = kNone;  // a start whose end will not come; to be released
  };
  Started start(std::uint64_t key);
  // Returns the task that ends, to be released; kNone: its start is missing.
  Slot end(std::uint64_t key);

  // Open tasks of a key, the earliest first.
  Slot first_open(std::uint64_t key) const { return open_.find(key); }
  Slot next_open(Slot slot) const { return links_[slot].next; }
  Slot last_open(std::uint64_t key) const;

  void release(Slot slot) { free_.push_back(slot); }
  // Returns all that are open still, by slot.
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
