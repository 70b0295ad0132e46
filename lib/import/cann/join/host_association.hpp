// HostAssociation: host records in order of time become host tasks: which operator, call, model and
// collective each launched task belongs to. In memory is what open calls still need.
// For the import of CANN captures. Source: cann_host.md 1.10; cann_corrections.md J-A1, J-B7,
// J-B10, J-C2, J-C3.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "import/cann/join/host_call_tree.hpp"
#include "import/cann/join/host_records.hpp"

namespace msprof {

class HostAssociation {
 public:
  struct Options {
    bool names_only = false;   // profile level 0
    bool has_contexts = true;  // not on chips of the 950 class
  };
  HostAssociation(HostSink& sink, const Options& options);

  // In order of time; at equal times copies, tasks, other records, calls, in this order.
  void add_copy(const MemcpyInfoWire& copy);
  void add_task(const HostTrack& track);
  // Records of a call, their counts within their lists; false: no call of their level on the thread
  // takes them.
  bool add(const HostRecord<NodeBasicInfoWire>& basic);
  bool add(const HostRecord<NodeAttrInfoWire>& attribute);
  bool add(const HostRecord<TensorInfoWire>& tensors);
  bool add(const HostRecord<ContextIdInfoWire>& contexts);
  bool add(const HostRecord<HcclInfoWire>& info);
  bool add(const HostRecord<HcclOpInfoWire>& info);
  // The model call around a moment; null: none.
  const HostCall* model_at(const HostHeader& head);
  void add_call(const HostCall& call);
  void finish();

  // Communication tasks outside every node call: they have no host task.
  std::uint64_t homeless_comm_tasks() const { return homeless_comm_tasks_; }

 private:
  HostCallTree& tree_of(std::uint32_t thread);
  // The thread's tree, calls that ended before `time` closed.
  HostCallTree& tree_at(std::uint32_t thread, std::uint64_t time);
  // The open call of a level that a record belongs to; null: none.
  OpenCall* call_for(const HostHeader& head, std::uint16_t level);

  void size_copies();
  void place(const HostTrack& track);
  void name_by_kernel(HostTask& task, const HostTrack& track);
  void place_comm(const HostTask& task, const HostTrack& track, const CallPath& path,
                  bool has_operator);
  void wait(PendingComm& pending, OpenCall* from);

  void close(HostCallTree& tree, OpenCall& call);
  void find_operators(const HostTrack& track, const std::uint64_t* comm_item);
  std::int64_t op_of(HostOp op, const HostTrack& track, const std::uint64_t* comm_item);
  void advance(PendingComm& pending, OpenCall& call);
  void expand_operators(const PendingComm& pending, OpenCall& call);
  void find_contexts(const OpenCall& call);
  void expand_comm(const PendingComm& pending, OpenCall& call);
  void describe_collective(PendingComm& pending, const OpenCall& call) const;
  void finish_comm(PendingComm& pending);

  struct Row {
    std::uint32_t context = kNoContext;
    std::int64_t op_id = kNull;
  };

  HostSink& sink_;
  Options options_;
  NodeDescription description_;
  std::unordered_map<std::uint32_t, std::size_t> tree_numbers_;
  std::vector<std::unique_ptr<HostCallTree>> trees_;  // in order of appearance
  HostCallTree* last_tree_ = nullptr;
  std::vector<MemcpyInfoWire> copies_;  // of one moment
  std::vector<HostTrack> copy_tracks_;  // likewise
  std::vector<Row> rows_;               // of the task in hand
  // Of the communication call that ends: its contexts, null where no record tells about one.
  std::map<std::uint32_t, const HostRecord<HcclInfoWire>*> comm_infos_;
  std::uint64_t homeless_comm_tasks_ = 0;
};

}  // namespace msprof
