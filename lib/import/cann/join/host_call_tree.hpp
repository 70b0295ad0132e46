// HostCallTree: open calls of one host thread, one within the other, with the records that came
// during them; NodeDescription: the operators that they describe. For HostAssociation. Source:
// cann_host.md 1.10 (1 to 5).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "import/cann/join/host_records.hpp"
#include "import/cann/join/host_tasks.hpp"

namespace msprof {

struct OpenCall;

// A task whose operator or collective is known when the calls around it end.
struct PendingTask {
  HostTask task;
  HostTrack track;
};

// Likewise, of a collective: it waits for up to three calls, the inner ones first.
struct PendingComm {
  PendingTask pending;
  HostComm comm;
  OpenCall* op_call = nullptr;    // node call that describes its operator; null: not needed (now)
  OpenCall* comm_call = nullptr;  // communication call; null: done
  OpenCall* node_call = nullptr;  // the collective's node call; null: done
  std::uint64_t comm_item = 0;    // of the communication call
};

// A call of level acl, model, node or communication. Calls are used again: their lists keep
// capacity.
struct OpenCall {
  // Lists are far shorter than their records: the parts of those that mean something.
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

// Calls that a task finds on its way to the root.
struct CallPath {
  OpenCall* innermost = nullptr;
  OpenCall* model = nullptr;
  OpenCall* node = nullptr;
  OpenCall* communication = nullptr;
  OpenCall* node_of_communication = nullptr;  // around it, else `node`
};

class HostCallTree {
 public:
  explicit HostCallTree(std::uint32_t thread) : thread_(thread) {}
  std::uint32_t thread() const { return thread_; }

  // The innermost call with begin < time <= end, of any level or of one.
  OpenCall* at(std::uint64_t time) const;
  OpenCall* at(std::uint64_t time, std::uint16_t level) const;
  CallPath path(std::uint64_t time) const;

  // Null: a call that the tree does not take: of another level, without extent, or that overlaps
  // one of its level where calls do not nest. Calls that have ended must have been closed.
  OpenCall* open(const HostCall& call);
  // The innermost call when it ends before `time` (or at it); null: none.
  OpenCall* ended(std::uint64_t time) const;
  OpenCall* innermost() const { return calls_.empty() ? nullptr : calls_.back(); }
  void close_innermost();

 private:
  std::uint32_t thread_;
  std::vector<OpenCall*> calls_;  // by begin
  std::vector<std::unique_ptr<OpenCall>> owned_;
  std::vector<OpenCall*> free_;
  std::uint64_t last_end_[3] = {};  // of the last call taken: acl, model, communication
};

// Operators of a node call, made of the records during it.
// Source: cann_host.md 1.10 (6, 7, 11).
class NodeDescription {
 public:
  struct ContextOp {
    std::uint32_t context = 0;
    HostOp op;
    bool has_op = false;
  };

  // `names_only`: profile level 0, which has nothing else.
  explicit NodeDescription(bool names_only) : names_only_(names_only) {}

  // Valid until the next of(), and while `call` is open. Sorts the call's records.
  void of(OpenCall& call);

  // Description of the node as a whole: its last record of each kind.
  bool has_op() const { return has_op_; }
  const HostOp& op() const { return op_; }
  // One a context; by context. Empty: the node has none.
  const std::vector<ContextOp>& contexts() const { return contexts_; }
  // The first record in reading order; null: none.
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
  std::vector<std::vector<std::byte>> joined_;  // tensors of operators with several records
};

}  // namespace msprof
