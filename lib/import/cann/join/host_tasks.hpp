// Host data used by the device association. HostTask: facts about a launched task. HostTaskStore:
// the host tasks of a run. HostJoin: finds the host task of a device
// record. Sources: cann_host.md 1.10 (7), cann_device.md 14.1, 14.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "base/file_reader.hpp"
#include "import/cann/join/flat_table.hpp"
#include "import/cann/op_table.hpp"
#include "store/cells.hpp"

namespace msprof {

// Operator, call and model of a task. Written by the host association and used when the device's
// records are read.
struct HostTask {
  // `device` to `batch`, and `context`: the key.
  std::uint16_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t task_number = 0;  // 16 bits, unless task ids are unique
  std::uint16_t batch = 0;  // number of wraparounds of the 16-bit task ids; 0 on chips without
                            // batches
  std::uint16_t copy_direction = 65535;  // MEMCPY_ASYNC only, see MemcpyTaskRow
  std::uint32_t context = kInvalidId;    // set for a sub task of an FFTS+ graph
  std::uint64_t launch_count = 0;        // host count of the task_track record
  std::int64_t type_name_id = kNull;     // for example "KERNEL_AIVEC", "MEMCPY_ASYNC"
  std::int64_t kernel_name_id = kNull;
  std::int64_t op_id = kNull;  // OpRow; null if there is no operator
  std::int64_t api_id = kNull;
  std::int64_t model_number = kNull;
  std::int64_t comm_call_id = kNull;  // CommCallRow, communication tasks only
  std::int64_t copy_bytes = kNull;    // null if not a copy
};

// The host tasks of a run. Filled while the host is read; tasks are taken per stream and batch
// while a device is read. They are stored in an unnamed temporary file, even after they were taken.
class HostTaskStore {
 public:
  // The tasks of a (device, stream, batch), sorted by launch count. The store must outlive it.
  class Taken {
   public:
    Taken() = default;

    std::size_t size() const { return size_; }
    // Valid until the next call. Fast if accessed in ascending or nearly ascending order.
    const HostTask& operator[](std::size_t place) const;

   private:
    friend class HostTaskStore;

    const HostTaskStore* store_ = nullptr;
    std::vector<std::uint64_t> blocks_;
    std::vector<HostTask> rest_;  // tasks after those in the blocks
    std::size_t size_ = 0;
    mutable std::size_t read_ = SIZE_MAX;  // number of the block in `block_`
    mutable std::vector<HostTask> block_;
  };

  // Creates an unnamed temporary file in `folder` when it is first needed. Throws
  // Error(cannot_write). `has_unique_ids`: task ids are unique on a device; then all of its tasks
  // are in stream 0.
  explicit HostTaskStore(std::filesystem::path folder, bool has_unique_ids = false);

  void add(const HostTask& task);
  // Removes and returns the tasks; a second call returns none.
  Taken take(std::uint16_t device, std::uint32_t stream, std::uint16_t batch);
  // Returns the number of tasks of `device` that were never taken: launched, but not seen on the
  // device.
  std::uint64_t remaining(std::uint16_t device) const;

 private:
  static constexpr std::size_t kBlockTasks = 64;
  struct Segment {
    std::vector<HostTask> open;         // not yet in the file
    std::vector<std::uint64_t> blocks;  // file offsets of blocks of kBlockTasks tasks
  };
  using SegmentKey = std::tuple<std::uint16_t, std::uint32_t, std::uint16_t>;
  void spill(Segment& segment);
  void read(std::uint64_t offset, std::vector<HostTask>& block) const;
  Taken take_segment(Segment segment) const;

  std::filesystem::path folder_;
  bool has_unique_ids_;
  FileDescriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::map<SegmentKey, Segment> segments_;
};

// Host tasks that share a key. They are assigned to device tasks after all have been seen.
struct SharedKey {
  std::vector<HostTask> hosts;       // in launch order
  std::vector<std::uint32_t> tasks;  // the caller's numbers of the device tasks
  std::size_t open = 0;              // number of device tasks that have not ended
  bool is_over = false;              // the stream has entered the next batch
};

// Finds host tasks of one device. The batches of a stream must be queried in ascending order; the
// keys of only one batch per stream are in memory.
class HostJoin {
 public:
  HostJoin(HostTaskStore& store, std::uint16_t device) : store_(store), device_(device) {}

  struct Found {
    const HostTask* task = nullptr;               // valid until the next call
    std::uint32_t shared = FlatTable::kNotFound;  // otherwise the number for shared()
  };
  Found find(std::uint32_t stream, std::uint16_t batch, std::uint32_t task_number,
             std::uint32_t context);
  // Returns the stream of a task with a unique id; kNoStream if the host did not launch it.
  static constexpr std::uint32_t kNoStream = 65535;
  std::uint32_t find_stream(std::uint32_t task_number);

  SharedKey& shared(std::uint32_t number) { return shared_.at(number); }
  void forget_shared(std::uint32_t number) { shared_.erase(number); }
  // Reports that a device task of a shared key has ended, or will never end.
  void left(std::uint32_t number, bool has_ended, std::uint32_t task);
  // Returns the shared keys without open tasks whose batch ended since the last call; all remaining
  // ones if `all`.
  std::vector<std::uint32_t> resolved(bool all);

  // Returns the number of host tasks that no device record matched. Valid after resolved(true).
  std::uint64_t unseen() const { return unseen_; }

 private:
  struct Entry {
    std::uint32_t task_number = 0;
    std::uint32_t context = kInvalidId;
    std::uint32_t place = 0;  // index into Batch::tasks
    std::uint32_t shared = FlatTable::kNotFound;
  };
  struct Batch {
    std::uint16_t number = 0;
    bool is_loaded = false;
    HostTaskStore::Taken tasks;
    std::vector<Entry> entries;  // in launch order, each key once
    std::vector<bool> is_seen;
    std::vector<std::uint32_t> order;  // indexes of the entries, sorted by key
    std::vector<std::uint32_t> shared;
    std::uint32_t next = 0;  // where to search first
  };
  static std::uint64_t make_key(const Entry& entry) {
    return make_key(entry.task_number, entry.context);
  }
  static std::uint64_t make_key(std::uint32_t task_number, std::uint32_t context) {
    return static_cast<std::uint64_t>(task_number) << 32 | context;
  }
  Batch& find_or_add_batch(std::uint32_t stream, std::uint16_t number);
  static std::uint32_t find_place(Batch& batch, std::uint32_t task_number, std::uint32_t context);
  void load(Batch& batch, std::uint32_t stream, std::uint16_t number);
  // Sorts `order` by key.
  static void sort(Batch& batch);
  void join_repeated(Batch& batch);
  void add_to(Entry& entry, Batch& batch, std::uint32_t place);
  void retire(Batch& batch);

  HostTaskStore& store_;
  std::uint16_t device_;
  FlatTable numbers_;  // index into batches_ by stream
  std::vector<Batch> batches_;
  std::map<std::uint32_t, SharedKey> shared_;
  std::uint32_t next_shared_ = 0;
  std::vector<std::uint32_t> resolved_;  // shared keys without open tasks whose batch has ended
  std::uint64_t unseen_ = 0;
};

}  // namespace msprof
