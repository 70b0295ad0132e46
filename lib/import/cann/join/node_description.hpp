// NodeDescription: the operators of a node call, made of what was recorded during it.
// For HostAssociation. Source: cann_corrections.md J-A1, J-B7 and the table at its top.
#pragma once

#include <cstdint>
#include <vector>

#include "import/cann/join/host_call_tree.hpp"
#include "import/cann/join/host_sink.hpp"

namespace msprof {

class NodeDescription {
 public:
  struct ContextOp {
    std::uint32_t context = 0;
    HostOp op;
    bool has_op = false;
  };

  // `names_only`: profile level 0, which says nothing else.
  explicit NodeDescription(bool names_only) : names_only_(names_only) {}

  // Valid until the next of(), and while `call` is open. Sorts the call's records.
  void of(OpenCall& call);

  // Of the node as a whole: its last record of each kind.
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
