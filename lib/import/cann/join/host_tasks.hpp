// Data of the host for the devices: HostTask, the facts about one task it launched; the
// HostTaskStore of a run; OpTable, its operators; and HostJoin, which finds the tasks of one device
// again by the values of its records.
// Sources: cann_host.md 1.10 (7), cann_device.md 14.1, 14.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "base/file_reader.hpp"
#include "import/cann/join/flat_table.hpp"
#include "store/cells.hpp"

namespace msprof {

// Operator, call and model of a task: made by the host association, needed again when the
// device's records are read.
struct HostTask {
  // Key: device and task.
  std::uint16_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t task_number = 0;         // 16 bits, but where task ids are unique
  std::uint16_t batch = 0;               // turn of the 16-bit task ids; 0 on chips without them
  std::uint16_t copy_direction = 65535;  // of MEMCPY_ASYNC, see MemcpyTaskRow
  std::uint32_t context = kNone32;       // of a sub task of an FFTS+ graph
  std::uint64_t launch_count = 0;        // host counter of the task_track record
  std::int64_t type_name_id = kNull;     // "KERNEL_AIVEC", "MEMCPY_ASYNC"
  std::int64_t kernel_name_id = kNull;
  std::int64_t op_id = kNull;  // OpRow; null: no operator
  std::int64_t api_id = kNull;
  std::int64_t model_number = kNull;
  std::int64_t comm_call_id = kNull;  // CommCallRow of a communication task
  std::int64_t copy_bytes = kNull;    // null: not a copy
};

// Operators that the host association interned, for the device association.
class OpTable {
 public:
  virtual ~OpTable() = default;

  // Column of OpRow; kNull if unknown. `op_id` is an id that a HostTask carries.
  virtual std::int64_t block_num(std::int64_t op_id) const = 0;
  virtual std::int64_t mix_block_num(std::int64_t op_id) const = 0;
  virtual std::int64_t name_id(std::int64_t op_id) const = 0;
  virtual std::int64_t unit_name_id(std::int64_t op_id) const = 0;
  // Returns the operator with the blocks that became known at launch (TS_BLOCK_NUM); equal ones
  // share a row.
  virtual std::int64_t with_blocks(std::int64_t op_id, std::int64_t block_num,
                                   std::int64_t mix_block_num) = 0;
};

// The host tasks of a run, put in while the host is read and taken out a stream and batch at a time
// while a device is read. They wait in an unnamed temporary file, also those that are taken out.
class HostTaskStore {
 public:
  // The tasks of a (device, stream, batch), by launch count. The store outlives it.
  class Taken {
   public:
    Taken() = default;

    std::size_t size() const { return size_; }
    // Valid until the next call. Quick where the places come in order, or nearly so.
    const HostTask& operator[](std::size_t place) const;

   private:
    friend class HostTaskStore;

    const HostTaskStore* store_ = nullptr;
    std::vector<std::uint64_t> blocks_;
    std::vector<HostTask> rest_;  // behind the blocks
    std::size_t size_ = 0;
    mutable std::size_t read_ = SIZE_MAX;  // the block in `block_`
    mutable std::vector<HostTask> block_;
  };

  // Makes the temporary file in `folder`, without a name, once it is needed; throws
  // Error(cannot_write).
  // `has_unique_ids`: task ids are unique on a device; its tasks are all those of stream 0 then.
  explicit HostTaskStore(std::filesystem::path folder, bool has_unique_ids = false);

  void add(const HostTask& task);
  // They are forgotten here: taken again, there are none.
  Taken take(std::uint16_t device, std::uint32_t stream, std::uint16_t batch);
  // Number of tasks of `device` that were never taken: launched, never seen on the device.
  std::uint64_t remaining(std::uint16_t device) const;

 private:
  static constexpr std::size_t kBlockTasks = 64;
  struct Segment {
    std::vector<HostTask> open;         // not yet written
    std::vector<std::uint64_t> blocks;  // offsets in the file, kBlockTasks tasks each
  };
  using Key = std::tuple<std::uint16_t, std::uint32_t, std::uint16_t>;
  void spill(Segment& segment);
  void read(std::uint64_t offset, std::vector<HostTask>& block) const;
  Taken taken_of(Segment segment) const;

  std::filesystem::path folder_;
  bool has_unique_ids_;
  FileDescriptor file_;
  std::uint64_t file_bytes_ = 0;
  std::map<Key, Segment> segments_;
};

// Host tasks that share a key. The pairs of host and device tasks are known once all have been
// seen.
struct SharedKey {
  std::vector<HostTask> hosts;       // by launch
  std::vector<std::uint32_t> tasks;  // data of the device association for each device task
  std::size_t open = 0;              // device tasks that have not ended
  bool is_over = false;              // the stream has left the batch
};

// The host tasks of one device. A stream's batches come in rising order: the keys of one batch are
// in memory at a time.
class HostJoin {
 public:
  HostJoin(HostTaskStore& store, std::uint16_t device) : store_(store), device_(device) {}

  struct Found {
    const HostTask* task = nullptr;           // until the next call
    std::uint32_t shared = FlatTable::kNone;  // else of shared()
  };
  Found find(std::uint32_t stream, std::uint16_t batch, std::uint32_t task_number,
             std::uint32_t context);
  // The stream of a task whose id is unique; kNone: the host did not launch it.
  static constexpr std::uint32_t kNone = 65535;
  std::uint32_t stream_of(std::uint32_t task_number);

  SharedKey& shared(std::uint32_t number) { return shared_.at(number); }
  void forget_shared(std::uint32_t number) { shared_.erase(number); }
  // Records that a device task of a shared key has ended or will not.
  void left(std::uint32_t number, bool has_ended, std::uint32_t task);
  // Keys whose batch is over, with nothing open, since the last call; all that are left when `all`.
  std::vector<std::uint32_t> resolved(bool all);

  // Number of host tasks that no device record asked for, after settled(all).
  std::uint64_t unseen() const { return unseen_; }

 private:
  struct Entry {
    std::uint32_t task_number = 0;
    std::uint32_t context = kNone32;
    std::uint32_t place = 0;  // in Batch::tasks
    std::uint32_t shared = FlatTable::kNone;
  };
  struct Batch {
    std::uint16_t number = 0;
    bool is_loaded = false;
    HostTaskStore::Taken tasks;
    std::vector<Entry> entries;  // by launch, each key once
    std::vector<bool> is_seen;
    std::vector<std::uint32_t> order;  // of the entries, by key
    std::vector<std::uint32_t> shared;
    std::uint32_t next = 0;  // where to search first
  };
  static std::uint64_t key_of(const Entry& entry) {
    return key_of(entry.task_number, entry.context);
  }
  static std::uint64_t key_of(std::uint32_t task_number, std::uint32_t context) {
    return static_cast<std::uint64_t>(task_number) << 32 | context;
  }
  Batch& batch_of(std::uint32_t stream, std::uint16_t number);
  static std::uint32_t place_of(Batch& batch, std::uint32_t task_number, std::uint32_t context);
  void load(Batch& batch, std::uint32_t stream, std::uint16_t number);
  // Puts the entries in order by key.
  static void sort(Batch& batch);
  void join_repeated(Batch& batch);
  void add_to(Entry& entry, Batch& batch, std::uint32_t place);
  void retire(Batch& batch);

  HostTaskStore& store_;
  std::uint16_t device_;
  FlatTable numbers_;  // of streams
  std::vector<Batch> batches_;
  std::map<std::uint32_t, SharedKey> shared_;
  std::uint32_t next_shared_ = 0;
  std::vector<std::uint32_t> resolved_;  // shared keys whose batch is over, with nothing open
  std::uint64_t unseen_ = 0;
};

}  // namespace msprof
