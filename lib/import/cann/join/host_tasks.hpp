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
  std::uint16_t stream = 0;
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
// while a device is read. Only what is open is in memory; the rest is in an unnamed temporary file.
class HostTaskStore {
 public:
  // Makes the temporary file in `folder`, without a name, once it is needed; throws
  // Error(cannot_write).
  // `has_unique_ids`: task ids are unique on a device; its tasks are all those of stream 0 then.
  explicit HostTaskStore(std::filesystem::path folder, bool has_unique_ids = false);

  void add(const HostTask& task);
  // Takes the tasks of a (device, stream, batch), by launch count; they are forgotten here.
  std::vector<HostTask> take(std::uint16_t device, std::uint16_t stream, std::uint16_t batch);
  // Number of tasks of `device` that were never taken: launched, never seen on the device.
  std::uint64_t remaining(std::uint16_t device) const;

 private:
  static constexpr std::size_t kBlockTasks = 64;
  struct Segment {
    std::vector<HostTask> open;         // not yet written
    std::vector<std::uint64_t> blocks;  // offsets in the file, kBlockTasks tasks each
  };
  using Key = std::tuple<std::uint16_t, std::uint16_t, std::uint16_t>;
  void spill(Segment& segment);

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

// The host tasks of one device. A stream's batches come in rising order: those of one batch are in
// memory at a time.
class HostJoin {
 public:
  HostJoin(HostTaskStore& store, std::uint16_t device) : store_(store), device_(device) {}

  struct Found {
    const HostTask* task = nullptr;           // until the stream's next batch
    std::uint32_t shared = FlatTable::kNone;  // else of shared()
  };
  Found find(std::uint16_t stream, std::uint16_t batch, std::uint32_t task_number,
             std::uint32_t context);
  // The stream of a task whose id is unique; kNone: the host did not launch it.
  static constexpr std::uint16_t kNone = 65535;
  std::uint16_t stream_of(std::uint32_t task_number);

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
    HostTask task;
    std::uint32_t shared = FlatTable::kNone;
    bool is_seen = false;
  };
  struct Batch {
    std::uint16_t number = 0;
    bool is_loaded = false;
    std::vector<Entry> entries;
    FlatTable places;  // by task number and context
    std::vector<std::uint32_t> shared;
    std::uint32_t next = 0;  // where to search first
  };
  static std::uint64_t key_of(std::uint32_t task_number, std::uint32_t context) {
    return static_cast<std::uint64_t>(task_number) << 32 | context;
  }
  Batch& batch_of(std::uint16_t stream, std::uint16_t number);
  static std::uint32_t place_of(Batch& batch, std::uint32_t task_number, std::uint32_t context);
  void load(Batch& batch, std::uint16_t stream, std::uint16_t number);
  void add(Batch& batch, const HostTask& task);
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
