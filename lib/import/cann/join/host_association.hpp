// HostAssociation: converts host records, in order of time, to host tasks with the operator, call,
// model and collective of each launched task. Keeps in memory only what open calls still need.
// Source: cann_host.md 1.10.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/host_call_tree.hpp"
#include "import/cann/join/host_records.hpp"

namespace msprof {

// Finds the batch of each launched task: the number of wraparounds of its stream's 16-bit task ids.
// Tasks pass through in order of time; a task is held back only while a flip may still move it to
// the next batch. Source: cann_host.md 1.8.3.
class HostBatches {
 public:
  // Add all flips and the times of all tasks, then call prepare(), before the first push().
  void add_flip(std::uint16_t device, std::uint32_t stream, std::uint64_t time,
                std::uint16_t task_number, bool is_destroy);
  void see_task(std::uint16_t device, std::uint32_t stream, std::uint64_t time);
  void prepare();

  // Adds a task. Tasks must be in order of time and come out in the same order.
  void push(const HostTrack& track);
  void finish();  // Call after the last task.
  bool has_next() const { return first_ < first_undecided_; }
  const HostTrack& peek() const { return tracks_.front(); }
  void next();

 private:
  struct Flip {
    std::uint64_t time = 0;
    std::uint64_t stream = 0;  // key()
    std::uint16_t task_number = 0;
    std::uint16_t highest_ahead = 0;  // highest task number of the later flips of the stream
    bool is_destroy = false;
  };
  struct Stream {
    std::uint64_t last_time = 0;
    std::uint16_t batch = 0;
    std::uint16_t highest_ahead = 0;  // tasks with this number or above keep their batch
    std::deque<std::uint64_t> held;   // positions of the tasks that may still be moved
  };
  static std::uint64_t key(std::uint16_t device, std::uint32_t stream) {
    return std::uint64_t{device} << 32 | stream;
  }
  void apply(const Flip& flip, std::uint16_t highest_behind);
  void release(Stream& stream);
  void find_undecided();

  std::vector<Flip> flips_;  // sorted by time
  std::size_t next_flip_ = 0;
  FlatMap<Stream> streams_;
  // Tasks not yet returned, and which of them are held back. Positions are counted from the very
  // first task.
  std::deque<HostTrack> tracks_;
  std::deque<bool> waits_;
  std::uint64_t first_ = 0;
  std::uint64_t first_undecided_ = 0;
};

class HostAssociation {
 public:
  struct Options {
    bool names_only = false;   // profile level 0
    bool has_contexts = true;  // false on chips of the 950 class
  };
  HostAssociation(HostSink& sink, const Options& options);

  // Add records in order of time; at equal times in this order: copies, tasks, other records,
  // calls.
  void add_copy(const MemcpyInfoWire& copy);
  void add_task(const HostTrack& track);
  // Add a record to the call of its level on its thread. Returns false if there is no such call.
  // The caller must have checked the count in a record against the size of its array.
  bool add(const HostRecord<NodeBasicInfoWire>& basic);
  bool add(const HostRecord<NodeAttrInfoWire>& attribute);
  bool add(const HostRecord<TensorInfoWire>& tensors);
  bool add(const HostRecord<ContextIdInfoWire>& contexts);
  bool add(const HostRecord<HcclInfoWire>& info);
  bool add(const HostRecord<HcclOpInfoWire>& info);
  // Returns the call of a level at the record's time, except runtime calls; null if there is none.
  const HostCall* find_call_at(const HostHeader& head, std::uint16_t level);
  void add_call(const HostCall& call);
  void finish();

  // Returns the number of communication tasks outside every node call; they have no host task.
  std::uint64_t orphan_comm_tasks() const { return orphan_comm_tasks_; }

 private:
  HostCallTree& find_or_add_tree(std::uint32_t thread);
  // Returns the thread's tree, after closing calls that ended before `time`.
  HostCallTree& tree_at(std::uint32_t thread, std::uint64_t time);
  // Returns the open call of a level that a record belongs to; null if there is none.
  OpenCall* find_call_for(const HostHeader& head, std::uint16_t level);

  void size_copies();
  void place(const HostTrack& track);
  void name_by_kernel(HostTask& task, const HostTrack& track);
  void place_comm(const HostTask& task, const HostTrack& track, const CallPath& path,
                  bool has_operator);
  void wait(PendingComm& pending, OpenCall* from);

  void close(HostCallTree& tree, OpenCall& call);
  void find_operators(const HostTrack& track, const std::uint64_t* comm_item);
  std::int64_t find_or_add_op(HostOp op, const HostTrack& track, const std::uint64_t* comm_item);
  void advance(PendingComm& pending, OpenCall& call);
  void expand_operators(const PendingComm& pending, OpenCall& call);
  void find_contexts(const OpenCall& call);
  void expand_comm(const PendingComm& pending, OpenCall& call);
  void describe_collective(PendingComm& pending, const OpenCall& call) const;
  void finish_comm(PendingComm& pending);

  struct Row {
    std::uint32_t context = kInvalidId;
    std::int64_t op_id = kNull;
  };

  HostSink& sink_;
  Options options_;
  NodeDescription description_;
  FlatTable tree_numbers_;                            // index into trees_ by thread
  std::vector<std::unique_ptr<HostCallTree>> trees_;  // in order of first use
  HostCallTree* last_tree_ = nullptr;
  std::vector<MemcpyInfoWire> copies_;  // with the current time
  std::vector<HostTrack> copy_tracks_;  // with the current time
  std::vector<Row> rows_;               // rows of the current task
  // Contexts of the communication call that is being closed; null for one without a record.
  std::map<std::uint32_t, const HostRecord<HcclInfoWire>*> comm_infos_;
  std::uint64_t orphan_comm_tasks_ = 0;
};

}  // namespace msprof
