// DeviceCounts: results of the first pass over a device's records for the second pass: which starts
// have ends, and the wraparounds of task ids. Does not depend on the host, so it can be built while
// the host's records are read.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/device_log.hpp"
#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/task_matching.hpp"

namespace msprof {

class DeviceCounts {
 public:
  // Number of blocks of a task, known only at its launch.
  struct Blocks {
    RecordOrder place;
    std::uint32_t task_number = 0;
    std::uint16_t stream = 0;
    std::uint16_t block_num = 0;
    std::uint16_t mix_ratio = 0;
  };

  // If `has_batches` is false, task ids do not wrap around and every task is in batch 0.
  explicit DeviceCounts(bool has_batches) : has_batches_(has_batches) {}

  // Add flips, and blocks known at launch. Call before count().
  void add_flip(std::uint16_t stream, std::uint64_t ticks, std::uint16_t task_number);
  void add_blocks(std::uint16_t stream, std::uint64_t ticks, std::uint32_t task_number,
                  std::uint16_t block_num, std::uint16_t mix_ratio);
  // Counts a record; records may come in any order. Logs and counters may be counted on two
  // threads.
  void count(const DeviceLog& log);
  void count(const TaskCounters& counters);
  // Call after the last record.
  void finish();

  TaskPairing& pairing() { return pairing_; }
  // Returns the batch of a start or of counters. Call in order of time.
  std::uint16_t find_batch(const DeviceLog& log) {
    return start_batches_.find_batch(log.stream, log.place);
  }
  std::uint16_t find_batch(const TaskCounters& counters);
  bool has_blocks() const { return !blocks_.empty(); }
  // Returns the latest known blocks of a task; null if unknown.
  const Blocks* find_blocks(std::uint16_t stream, std::uint32_t task_number,
                            std::uint16_t batch) const;

 private:
  DeviceBatches* find_batches(TaskCounters::What what);

  bool has_batches_;
  TaskPairing pairing_;
  DeviceBatches start_batches_;
  DeviceBatches counter_batches_;
  DeviceBatches block_batches_;
  DeviceBatches launch_batches_;
  std::vector<Blocks> blocks_;
  FlatTable block_places_;
};

}  // namespace msprof
