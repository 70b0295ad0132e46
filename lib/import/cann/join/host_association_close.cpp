// What becomes of the tasks of a call when it ends.
#include <algorithm>

#include "import/cann/join/host_association.hpp"

namespace msprof {

namespace {

// Only these run as sub tasks with contexts of their own.
bool uses_contexts(TaskClass task_class) {
  switch (task_class) {
    case TaskClass::aicore:
    case TaskClass::aivec:
    case TaskClass::simt:
    case TaskClass::ffts_plus:
    case TaskClass::mix_aic:
    case TaskClass::mix_aiv:
      return true;
    default:
      return false;
  }
}

}  // namespace

void HostAssociation::close(HostCallTree& tree, OpenCall& call) {
  if (call.call.level == host_level::kNode && !(call.tasks.empty() && call.comm_tasks.empty()))
    description_.of(call);
  if (call.call.level == host_level::kCommunication && !call.comm_tasks.empty())
    find_contexts(call);
  for (const PendingTask& pending : call.tasks) {
    find_operators(pending.track, nullptr);
    HostTask task = pending.task;
    for (const Row& row : rows_) {
      task.context = row.context;
      task.op_id = row.op_id;
      sink_.add(task);
    }
  }
  for (PendingComm& pending : call.comm_tasks) advance(pending, call);
  tree.close_innermost();
}

// The operators of a task by the description of its node: one a context, and a row for the task
// around the contexts, which is no operator.
void HostAssociation::find_operators(const HostTrack& track, const std::uint64_t* comm_item) {
  rows_.clear();
  const auto& contexts = description_.contexts();
  if (!options_.has_contexts || contexts.empty() || !uses_contexts(track.task_class)) {
    rows_.push_back(
        {kNoContext, description_.has_op() ? op_of(description_.op(), track, comm_item) : kNull});
    return;
  }
  for (const auto& context : contexts) {
    if (context.has_op) rows_.push_back({context.context, op_of(context.op, track, comm_item)});
  }
  rows_.push_back({kNoContext, kNull});
}

// A call that a communication task waits for has ended.
void HostAssociation::advance(PendingComm& pending, OpenCall& call) {
  if (pending.op_call == &call) {
    expand_operators(pending, call);
  } else if (pending.comm_call == &call) {
    expand_comm(pending, call);
  } else if (pending.node_call == &call) {
    describe_collective(pending, call);
    pending.node_call = nullptr;
    wait(pending, call.parent);
  } else {
    wait(pending, call.parent);
  }
}

void HostAssociation::expand_operators(const PendingComm& pending, OpenCall& call) {
  find_operators(pending.pending.track, &pending.comm_item);
  const std::vector<Row> rows = rows_;
  PendingComm next = pending;
  next.op_call = nullptr;
  for (const Row& row : rows) {
    // The sub tasks of a collective are told apart by its own records.
    const bool is_told_apart = pending.pending.task.context != kNoContext;
    if (is_told_apart && row.context != pending.pending.task.context && row.context != kNoContext) {
      continue;
    }
    if (!is_told_apart) next.pending.task.context = row.context;
    next.pending.task.op_id = row.op_id;
    PendingComm copy = next;
    advance(copy, call);
    if (is_told_apart) break;
  }
}

// The contexts that the records of a communication call name; each has the last record that names
// it.
void HostAssociation::find_contexts(const OpenCall& call) {
  comm_infos_.clear();
  if (options_.has_contexts) {
    for (const std::uint32_t context : call.comm_contexts)
      comm_infos_.try_emplace(context, nullptr);
  }
  for (const auto& info : call.task_infos) {
    auto& place =
        comm_infos_[options_.has_contexts ? std::uint32_t{info.wire.context} : kNoContext];
    if (place == nullptr || info.sequence > place->sequence) place = &info;
  }
  if (comm_infos_.empty()) comm_infos_.try_emplace(kNoContext, nullptr);
}

// One task a context.
void HostAssociation::expand_comm(const PendingComm& pending, OpenCall& call) {
  PendingComm next = pending;
  next.comm_call = nullptr;
  for (const auto& [context, info] : comm_infos_) {
    if (context != kNoContext) next.pending.task.context = context;
    next.comm.has_task_info = info != nullptr;
    if (info != nullptr) next.comm.task = info->wire;
    PendingComm copy = next;
    advance(copy, call);
  }
}

void HostAssociation::describe_collective(PendingComm& pending, const OpenCall& call) const {
  pending.comm.has_op_info = call.has_op_info;
  if (call.has_op_info) pending.comm.op = call.op_info.wire;
  if (const auto* basic = description_.first_basic()) {
    pending.comm.has_kind = true;
    pending.comm.kind_hash = basic->wire.type;
  }
}

}  // namespace msprof
