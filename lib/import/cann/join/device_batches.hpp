// DeviceBatches: which turn of the 16-bit task ids a device record belongs to. The records of a
// stream are cut at its flips; all records are seen once, in any order, before the first question.
// Sources: cann_device.md 14.2 (native rule), cann_corrections.md J-C1, C11.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/join/flat_table.hpp"

namespace msprof {

// Where a record is in the order of time: its ticks, then its place in reading order.
struct DevicePlace {
  std::uint64_t ticks = 0;
  std::uint64_t sequence = 0;

  bool operator<(const DevicePlace& other) const {
    return ticks != other.ticks ? ticks < other.ticks : sequence < other.sequence;
  }
};

class DeviceBatches {
 public:
  // `task_number` is the flip task's own; flips before the first record.
  void add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number);
  // One record of the kind that is cut.
  void see(std::uint16_t stream, DevicePlace place, std::uint16_t task_number);
  // After the last record.
  void finish();

  // The places of a stream come in order.
  std::uint16_t batch_of(std::uint16_t stream, DevicePlace place) {
    if (streams_.empty()) return 0;
    const std::uint32_t number = numbers_.find(stream);
    return number == FlatTable::kNone ? 0 : batch_in(streams_[number], place);
  }

 private:
  struct Flip {
    std::uint64_t ticks = 0;
    std::uint16_t task_number = 0;
    // The last place of the batch before it.
    DevicePlace cut;
    // Of the records since the flip before, those that no later one with a greater task id hides:
    // enough to walk back over small task ids.
    struct Step {
      DevicePlace place;
      std::uint16_t task_number = 0;
    };
    std::vector<Step> steps;

    bool walks() const { return task_number != 0 && task_number != 0xFFFF; }
  };
  struct Stream {
    std::vector<Flip> flips;  // by ticks, once sorted
    bool is_sorted = false;
    bool walks = false;
    bool has_first = false;
    DevicePlace first;
    std::size_t cursor = 0;
  };

  static std::uint16_t batch_in(Stream& stream, DevicePlace place);
  static void sort(Stream& stream);
  static DevicePlace cut_of(const Stream& stream, std::size_t flip);

  FlatTable numbers_;  // of streams
  std::vector<Stream> streams_;
};

}  // namespace msprof
