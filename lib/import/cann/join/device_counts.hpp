// DeviceCounts: what a first pass over the records of a device tells the second one: which starts
// have ends, and the turns of task ids. For DeviceTasks; it needs nothing of the host, so that it
// may be made while the host's records are read.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/join/device_log.hpp"
#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/task_matching.hpp"

namespace msprof {

class DeviceCounts {
 public:
  // Blocks of a task that became known at its launch.
  struct Blocks {
    RecordOrder place;
    std::uint32_t task_number = 0;
    std::uint16_t stream = 0;
    std::uint16_t block_num = 0;
    std::uint16_t mix_ratio = 0;
  };

  // Without batches task ids have no turns, and all is batch 0.
  explicit DeviceCounts(bool has_batches) : has_batches_(has_batches) {}

  // Adds, before the records, flips, and blocks that became known at launch.
  void add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number);
  void add_blocks(std::uint16_t stream, std::uint64_t ticks, std::uint32_t task_number,
                  std::uint16_t block_num, std::uint16_t mix_ratio);
  // Counts every record, in any order. Logs and counters may be counted by two threads.
  void count(const DeviceLog& log);
  void count(const TaskCounters& counters);
  void count(const BlockCounters& counters);
  // Completes the counts after the last record.
  void finish();

  TaskPairing& pairing() { return pairing_; }
  DeviceBatches& start_batches() { return start_batches_; }
  DeviceBatches& counter_batches() { return counter_batches_; }
  DeviceBatches& block_batches() { return block_batches_; }
  bool has_blocks() const { return !blocks_.empty(); }
  // The last that is known of a task; null: nothing.
  const Blocks* blocks_of(std::uint16_t stream, std::uint32_t task_number,
                          std::uint16_t batch) const;

 private:
  bool has_batches_;
  TaskPairing pairing_;
  DeviceBatches start_batches_;
  DeviceBatches counter_batches_;
  DeviceBatches block_batches_;
  DeviceBatches launch_batches_;  // of blocks known at launch
  std::vector<Blocks> blocks_;
  FlatTable block_places_;
};

}  // namespace msprof
