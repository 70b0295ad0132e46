// HostJoin: the host tasks of one device, found by what its records say. A stream's batches come in
// rising order: those of one batch are in memory at a time.
// Sources: cann_device.md 14.3, cann_corrections.md J-B7 (with its table's "kept").
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/host_task_store.hpp"

namespace msprof {

// Host tasks that share a key. Which device task is whose is known once all have been seen.
struct SharedKey {
  std::vector<HostTask> hosts;       // by launch
  std::vector<std::uint32_t> tasks;  // what the device association noted for each device task
  std::size_t open = 0;              // device tasks that have not ended
  bool is_over = false;              // the stream has left the batch
};

class HostJoin {
 public:
  HostJoin(HostTaskStore& store, std::uint16_t device) : store_(store), device_(device) {}

  struct Found {
    const HostTask* task = nullptr;           // until the stream's next batch
    std::uint32_t shared = FlatTable::kNone;  // else of shared()
  };
  Found find(std::uint16_t stream, std::uint16_t batch, std::uint16_t task_number,
             std::uint32_t context);

  SharedKey& shared(std::uint32_t number) { return shared_.at(number); }
  void forget_shared(std::uint32_t number) { shared_.erase(number); }
  // A device task of a shared key has ended or will not.
  void left(std::uint32_t number, bool has_ended, std::uint32_t task);
  // Keys whose batch is over, with nothing open, since the last call; all that are left when `all`.
  std::vector<std::uint32_t> settled(bool all);

  // After settled(all): host tasks that no device record asked for.
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
    std::uint32_t next = 0;  // where to look first
  };
  static std::uint64_t key_of(std::uint16_t task_number, std::uint32_t context) {
    return static_cast<std::uint64_t>(task_number) << 32 | context;
  }
  Batch& batch_of(std::uint16_t stream, std::uint16_t number);
  static std::uint32_t place_of(Batch& batch, std::uint16_t task_number, std::uint32_t context);
  void load(Batch& batch, std::uint16_t stream, std::uint16_t number);
  void add(Batch& batch, const HostTask& task);
  void leave(Batch& batch);

  HostTaskStore& store_;
  std::uint16_t device_;
  FlatTable numbers_;  // of streams
  std::vector<Batch> batches_;
  std::map<std::uint32_t, SharedKey> shared_;
  std::uint32_t next_shared_ = 0;
  std::vector<std::uint32_t> settled_;  // shared keys whose batch is over, with nothing open
  std::uint64_t unseen_ = 0;
};

}  // namespace msprof
