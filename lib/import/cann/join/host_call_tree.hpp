// HostCallTree: nested open calls of one host thread, with the records made during them.
// NodeDescription: the operators that these records describe. Used by HostAssociation. Source:
// cann_host.md 1.10 (1 to 5).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "import/cann/join/host_records.hpp"
#include "import/cann/join/host_tasks.hpp"

namespace msprof {

struct OpenCall;

// A task whose operator or collective is known only when the calls around it end.
struct PendingTask {
  HostTask task;
  HostTrack track;
};

// A task of a collective. It waits for up to three calls, the inner ones first.
struct PendingComm {
  PendingTask pending;
  HostComm comm;
  OpenCall* op_call = nullptr;  // node call that describes its operator; null if not needed or done
  OpenCall* comm_call = nullptr;  // communication call; null if done
  OpenCall* node_call = nullptr;  // the collective's node call; null if done
  std::uint64_t comm_item = 0;    // item of the communication call
};

// A call of level acl, model, node or communication. Objects are reused, so that their lists keep
// their capacity.
struct OpenCall {
  // The used part of a tensor record, which is far shorter than the record.
  struct Tensors {
    std::uint64_t sequence = 0;
    std::uint64_t name_hash = 0;
    std::uint64_t time = 0;
    std::size_t first_byte = 0;
    std::size_t bytes = 0;
  };
  struct Context {
    std::uint64_t sequence = 0;
    std::uint64_t name_hash = 0;
    std::uint32_t id = 0;
  };

  HostCall call;
  OpenCall* parent = nullptr;
  std::vector<PendingTask> tasks;
  std::vector<PendingComm> comm_tasks;
  // Records of a node call.
  std::vector<HostRecord<NodeBasicInfoWire>> basics;
  std::vector<HostRecord<NodeAttrInfoWire>> attributes;
  std::vector<Tensors> tensors;
  std::vector<std::byte> tensor_bytes;
  std::vector<Context> contexts;
  bool has_op_info = false;
  HostRecord<HcclOpInfoWire> op_info;  // the first in reading order
  // Records of a communication call.
  std::vector<HostRecord<HcclInfoWire>> task_infos;
  std::vector<std::uint32_t> comm_contexts;

  void clear();
};

// The calls around a task, by level.
struct CallPath {
  OpenCall* innermost = nullptr;
  OpenCall* model = nullptr;
  OpenCall* node = nullptr;
  OpenCall* communication = nullptr;
  OpenCall* node_of_communication = nullptr;  // node call around the communication call, else
                                              // `node`
};

class HostCallTree {
 public:
  explicit HostCallTree(std::uint32_t thread) : thread_(thread) {}
  std::uint32_t thread() const { return thread_; }

  // Returns the innermost call with begin < time <= end, of any level or of `level`.
  OpenCall* at(std::uint64_t time) const;
  OpenCall* at(std::uint64_t time, std::uint16_t level) const;
  CallPath path(std::uint64_t time) const;

  // Returns null for a call that does not belong in the tree: it has another level, is empty, or
  // overlaps a call of a level that does not nest. Calls that have ended must be closed before.
  OpenCall* open(const HostCall& call);
  // Returns the innermost call if it ends at or before `time`; null otherwise.
  OpenCall* find_ended(std::uint64_t time) const;
  OpenCall* innermost() const { return calls_.empty() ? nullptr : calls_.back(); }
  void close_innermost();

 private:
  std::uint32_t thread_;
  std::vector<OpenCall*> calls_;  // sorted by start
  std::vector<std::unique_ptr<OpenCall>> owned_;
  std::vector<OpenCall*> free_;
  std::uint64_t last_end_[3] = {};  // end of the last call opened: acl, model, communication
};

// The operators of a node call, from the records made during it. Source: cann_host.md 1.10 (6, 7,
// 11).
class NodeDescription {
 public:
  struct ContextOp {
    std::uint32_t context = 0;
    HostOp op;
    bool has_op = false;
  };

  // `names_only`: profile level 0, which records only names.
  explicit NodeDescription(bool names_only) : names_only_(names_only) {}

  // Describes `call`. Results are valid until the next of() and while `call` is open. Sorts the
  // call's records.
  void of(OpenCall& call);

  // The operator of the whole node, from its last record of each kind.
  bool has_op() const { return has_op_; }
  const HostOp& op() const { return op_; }
  // One per context, sorted by context; empty if the node has no contexts.
  const std::vector<ContextOp>& contexts() const { return contexts_; }
  // Returns the first record in reading order; null if there is none.
  const HostRecord<NodeBasicInfoWire>* first_basic() const {
    return has_first_ ? &first_ : nullptr;
  }

 private:
  void fill(HostOp& op, const HostRecord<NodeBasicInfoWire>& basic) const;
  void describe_whole(OpenCall& call);
  void describe_contexts(OpenCall& call);
  void describe_by_name(OpenCall& call);
  static void sort_by_name(OpenCall& call);
  void add_attribute(HostOp& op, const OpenCall& call, const std::uint64_t* name) const;
  void add_tensors(HostOp& op, const OpenCall& call, const std::uint64_t* name);

  bool names_only_;
  bool has_op_ = false;
  bool has_first_ = false;
  HostOp op_;
  HostRecord<NodeBasicInfoWire> first_;
  std::vector<ContextOp> contexts_;
  std::vector<std::vector<std::byte>> joined_;  // tensors of operators with several tensor records
};

}  // namespace msprof
