#include "import/cann/join/host_association.hpp"

#include <algorithm>
#include <tuple>

namespace msprof {

void HostBatches::add_flip(std::uint16_t device, std::uint32_t stream, std::uint64_t time,
                           std::uint16_t task_number, bool is_destroy) {
  flips_.push_back({time, key(device, stream), task_number, 0, is_destroy});
}

void HostBatches::see_task(std::uint16_t device, std::uint32_t stream, std::uint64_t time) {
  Stream& seen = streams_.try_emplace(key(device, stream)).first;
  seen.last_time = std::max(seen.last_time, time);
}

void HostBatches::prepare() {
  // A flip has no effect unless a task follows it.
  std::erase_if(flips_, [&](const Flip& flip) {
    const Stream* stream = streams_.find(flip.stream);
    return stream == nullptr || stream->last_time <= flip.time;
  });
  std::stable_sort(flips_.begin(), flips_.end(),
                   [](const Flip& a, const Flip& b) { return a.time < b.time; });
  for (auto flip = flips_.rbegin(); flip != flips_.rend(); ++flip) {
    Stream& stream = streams_.try_emplace(flip->stream).first;
    // Highest task number of the later flips of the stream.
    flip->highest_ahead = stream.highest_ahead;
    if (!flip->is_destroy) stream.highest_ahead = std::max(stream.highest_ahead, flip->task_number);
  }
}

void HostBatches::push(const HostTrack& track) {
  while (next_flip_ < flips_.size() && flips_[next_flip_].time < track.time) {
    const Flip& flip = flips_[next_flip_++];
    apply(flip, flip.highest_ahead);
  }
  Stream& stream = streams_.try_emplace(key(track.device, track.stream)).first;
  const std::uint64_t place = first_ + tracks_.size();
  tracks_.push_back(track);
  tracks_.back().batch = stream.batch;
  const bool waits = track.task_number < stream.highest_ahead;
  waits_.push_back(waits);
  // A task that no flip can move also fixes the batches of all tasks before it.
  if (!waits) release(stream);
  if (waits) stream.held.push_back(place);
  find_undecided();
}

void HostBatches::apply(const Flip& flip, std::uint16_t highest_behind) {
  Stream& stream = streams_.try_emplace(flip.stream).first;
  ++stream.batch;
  if (!flip.is_destroy) {
    for (auto place = stream.held.rbegin(); place != stream.held.rend(); ++place) {
      HostTrack& track = tracks_[static_cast<std::size_t>(*place - first_)];
      if (track.task_number >= flip.task_number) break;
      track.batch = stream.batch;
    }
  }
  stream.highest_ahead = highest_behind;
  // Releases the tasks up to the last one that no later flip can move.
  const auto resolved =
      std::find_if(stream.held.rbegin(), stream.held.rend(), [&](std::uint64_t place) {
        return tracks_[static_cast<std::size_t>(place - first_)].task_number >= highest_behind;
      });
  const auto count = static_cast<std::size_t>(stream.held.rend() - resolved);
  for (std::size_t i = 0; i < count; ++i) {
    waits_[static_cast<std::size_t>(stream.held.front() - first_)] = false;
    stream.held.pop_front();
  }
}

void HostBatches::release(Stream& stream) {
  for (const std::uint64_t place : stream.held)
    waits_[static_cast<std::size_t>(place - first_)] = false;
  stream.held.clear();
}

void HostBatches::finish() {
  while (next_flip_ < flips_.size()) {
    const Flip& flip = flips_[next_flip_++];
    apply(flip, flip.highest_ahead);
  }
  for (Stream& stream : streams_.values()) release(stream);
  find_undecided();
}

void HostBatches::find_undecided() {
  const std::uint64_t end = first_ + tracks_.size();
  while (first_undecided_ < end && !waits_[static_cast<std::size_t>(first_undecided_ - first_)])
    ++first_undecided_;
}

void HostBatches::next() {
  tracks_.pop_front();
  waits_.pop_front();
  ++first_;
}

namespace {

bool is_kernel(TaskClass task_class) {
  return task_class <= TaskClass::other_kernel;
}

// Kernels that are operators even if no node call describes them.
bool is_named_kernel(TaskClass task_class) {
  return task_class < TaskClass::other_kernel;
}

bool is_mix(TaskClass task_class) {
  return task_class == TaskClass::mix_aic || task_class == TaskClass::mix_aiv;
}

// Returns true if the task runs the operator of its node call.
bool has_operator(const HostTrack& track, const CallPath& path) {
  if (path.node == nullptr || path.node->call.is_step_info || path.node->call.is_lccl) return false;
  if (is_kernel(track.task_class) || track.task_class == TaskClass::stars_common) return true;
  return track.task_class == TaskClass::ffts_plus && path.communication == nullptr;
}

// Task type (table T1) of a task class.
std::uint32_t to_task_type(TaskClass task_class) {
  switch (task_class) {
    case TaskClass::aicore:
      return 0;
    case TaskClass::aicpu:
      return 1;
    case TaskClass::mix_aic:
      return 4;
    case TaskClass::mix_aiv:
      return 5;
    default:
      return 2;
  }
}

// Only tasks of these classes have sub tasks with separate contexts.
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

HostAssociation::HostAssociation(HostSink& sink, const Options& options)
    : sink_(sink), options_(options), description_(options.names_only) {}

HostCallTree& HostAssociation::find_or_add_tree(std::uint32_t thread) {
  if (last_tree_ != nullptr && last_tree_->thread() == thread) return *last_tree_;
  std::uint32_t number = tree_numbers_.find(thread);
  if (number == FlatTable::kNotFound) {
    number = static_cast<std::uint32_t>(trees_.size());
    tree_numbers_.set(thread, number);
    trees_.push_back(std::make_unique<HostCallTree>(thread));
  }
  last_tree_ = trees_[number].get();
  return *last_tree_;
}

HostCallTree& HostAssociation::tree_at(std::uint32_t thread, std::uint64_t time) {
  HostCallTree& tree = find_or_add_tree(thread);
  // A record at the time at which a call ends still belongs to that call.
  while (time > 0 && tree.find_ended(time - 1) != nullptr) close(tree, *tree.innermost());
  return tree;
}

OpenCall* HostAssociation::find_call_for(const HostHeader& head, std::uint16_t level) {
  size_copies();
  return tree_at(head.thread, head.time).at(head.time, level);
}

bool HostAssociation::add(const HostRecord<NodeBasicInfoWire>& basic) {
  OpenCall* call = find_call_for(basic.wire.head, call_level::kNode);
  if (call != nullptr) call->basics.push_back(basic);
  return call != nullptr;
}

bool HostAssociation::add(const HostRecord<NodeAttrInfoWire>& attribute) {
  OpenCall* call = find_call_for(attribute.wire.head, call_level::kNode);
  if (call != nullptr) call->attributes.push_back(attribute);
  return call != nullptr;
}

bool HostAssociation::add(const HostRecord<TensorInfoWire>& tensors) {
  const TensorInfoWire& wire = tensors.wire;
  OpenCall* call = find_call_for(wire.head, call_level::kNode);
  if (call == nullptr) return false;
  const auto bytes = std::as_bytes(std::span(wire.tensors, wire.tensor_count));
  call->tensors.push_back(
      {tensors.sequence, wire.name, wire.head.time, call->tensor_bytes.size(), bytes.size()});
  call->tensor_bytes.insert(call->tensor_bytes.end(), bytes.begin(), bytes.end());
  return true;
}

bool HostAssociation::add(const HostRecord<ContextIdInfoWire>& contexts) {
  const ContextIdInfoWire& wire = contexts.wire;
  OpenCall* call = find_call_for(wire.head, wire.head.level);
  if (call == nullptr) return false;
  if (wire.head.level == call_level::kCommunication) {
    // The two ids are the first and the last of a range.
    if (wire.count != 2) return true;
    for (std::uint64_t id = wire.ids[0]; id <= wire.ids[1]; ++id)
      call->comm_contexts.push_back(static_cast<std::uint32_t>(id));
    return true;
  }
  for (std::uint32_t i = 0; i < wire.count; ++i)
    call->contexts.push_back({contexts.sequence, wire.name, wire.ids[i]});
  return true;
}

bool HostAssociation::add(const HostRecord<HcclInfoWire>& info) {
  OpenCall* call = find_call_for(info.wire.head, call_level::kCommunication);
  if (call != nullptr) call->task_infos.push_back(info);
  return call != nullptr;
}

bool HostAssociation::add(const HostRecord<HcclOpInfoWire>& info) {
  OpenCall* call = find_call_for(info.wire.head, call_level::kNode);
  if (call == nullptr) return false;
  if (!call->has_op_info || info.sequence < call->op_info.sequence) call->op_info = info;
  call->has_op_info = true;
  return true;
}

const HostCall* HostAssociation::find_call_at(const HostHeader& head, std::uint16_t level) {
  const OpenCall* call = find_call_for(head, level);
  return call != nullptr ? &call->call : nullptr;
}

void HostAssociation::add_call(const HostCall& call) {
  size_copies();
  HostCallTree& tree = find_or_add_tree(call.thread);
  while (tree.find_ended(call.begin) != nullptr) close(tree, *tree.innermost());
  tree.open(call);
}

void HostAssociation::finish() {
  size_copies();
  for (const auto& tree : trees_) {
    while (tree->innermost() != nullptr) close(*tree, *tree->innermost());
  }
}

void HostAssociation::add_copy(const MemcpyInfoWire& copy) {
  if (!copies_.empty() && copies_.front().head.time != copy.head.time) size_copies();
  copies_.push_back(copy);
}

void HostAssociation::add_task(const HostTrack& track) {
  if (!copies_.empty() && copies_.front().head.time != track.time) size_copies();
  if (track.task_class != TaskClass::memcpy_async) {
    place(track);
    return;
  }
  HostTrack copy = track;
  copy.copy_bytes = 0;
  if (copies_.empty()) {
    place(copy);
  } else {
    copy_tracks_.push_back(copy);
  }
}

// Distributes the bytes that a thread copied at one time over the thread's tasks of that time, by
// task number.
void HostAssociation::size_copies() {
  if (copies_.empty()) return;
  std::stable_sort(copy_tracks_.begin(), copy_tracks_.end(),
                   [](const HostTrack& a, const HostTrack& b) {
                     return std::tie(a.thread, a.batch, a.task_number) <
                            std::tie(b.thread, b.batch, b.task_number);
                   });
  // The first record of a thread is used.
  std::stable_sort(copies_.begin(), copies_.end(),
                   [](const MemcpyInfoWire& a, const MemcpyInfoWire& b) {
                     return a.head.thread < b.head.thread;
                   });
  for (HostTrack& track : copy_tracks_) {
    const auto copy = std::lower_bound(
        copies_.begin(), copies_.end(), track.thread,
        [](const MemcpyInfoWire& info, std::uint32_t thread) { return info.head.thread < thread; });
    if (copy == copies_.end() || copy->head.thread != track.thread) continue;
    // Copied: references to fields of a packed struct may be misaligned.
    const std::uint64_t left = copy->bytes;
    const std::uint64_t most = copy->most_bytes_per_task;
    const std::uint64_t bytes = std::min(left, most);
    copy->bytes = left - bytes;
    track.copy_bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX));
    constexpr std::uint16_t kLastDirection = 7;
    if (copy->direction <= kLastDirection) track.copy_direction = copy->direction;
  }
  copies_.clear();
  for (const HostTrack& track : copy_tracks_) place(track);
  copy_tracks_.clear();
}

void HostAssociation::place(const HostTrack& track) {
  const CallPath path = tree_at(track.thread, track.time).path(track.time);
  if (path.communication != nullptr && path.node_of_communication == nullptr) {
    ++orphan_comm_tasks_;
    return;
  }
  HostTask task;
  task.device = track.device;
  task.stream = track.stream;
  task.task_number = track.task_number;
  task.batch = track.batch;
  task.copy_direction = static_cast<std::uint16_t>(track.copy_direction);
  task.launch_count = track.time;
  task.type_name_id = track.type_name_id;
  if (track.kernel_hash != 0) task.kernel_name_id = sink_.kernel_name_id(track.kernel_hash);
  task.model_number = path.model != nullptr ? static_cast<std::int64_t>(path.model->call.item)
                                            : sink_.captured_model(track);
  task.copy_bytes = track.copy_bytes;
  if (path.innermost != nullptr) task.api_id = path.innermost->call.id;

  const bool has_op = has_operator(track, path);
  if (path.communication != nullptr) {
    place_comm(task, track, path, has_op);
  } else if (has_op) {
    task.api_id = path.node->call.id;
    path.node->tasks.push_back({task, track});
  } else {
    if (path.node == nullptr) name_by_kernel(task, track);
    sink_.add(task);
  }
}

void HostAssociation::name_by_kernel(HostTask& task, const HostTrack& track) {
  if (is_mix(track.task_class) && options_.has_contexts) task.context = 0;
  HostOp op;
  if (sink_.captured_op(track, op)) {
    if (options_.names_only) {
      HostOp name;
      name.name_hash = op.name_hash;
      name.block_num = op.block_num;
      name.mix_block_num = op.mix_block_num;
      op = name;
    }
    task.op_id = find_or_add_op(op, track, nullptr);
    return;
  }
  if (!is_named_kernel(track.task_class) || track.kernel_hash == 0) return;
  op.name_hash = track.kernel_hash;
  if (!options_.names_only) {
    op.type_hash = track.kernel_hash;
    op.task_type = to_task_type(track.task_class);
  }
  task.op_id = find_or_add_op(op, track, nullptr);
}

void HostAssociation::place_comm(const HostTask& task, const HostTrack& track, const CallPath& path,
                                 bool has_op) {
  PendingComm pending;
  pending.pending = {task, track};
  pending.op_call = has_op ? path.node : nullptr;
  pending.comm_call = path.communication;
  pending.node_call = path.node_of_communication;
  const HostCall& node = pending.node_call->call;
  pending.pending.task.api_id = node.id;
  pending.comm_item = path.communication->call.item;
  HostComm& comm = pending.comm;
  comm.launch_count = track.time;
  comm.thread = track.thread;
  comm.is_master = path.communication->call.is_master;
  comm.call_id = node.id;
  comm.call_begin = node.begin;
  comm.call_item = node.item;
  comm.call_type = node.type;
  wait(pending, path.innermost);
}

// Attaches a task to the nearest call that it still waits for, from `from` outwards.
void HostAssociation::wait(PendingComm& pending, OpenCall* from) {
  for (OpenCall* call = from; call != nullptr; call = call->parent) {
    if (call != pending.op_call && call != pending.comm_call && call != pending.node_call) continue;
    call->comm_tasks.push_back(pending);
    return;
  }
  finish_comm(pending);
}

void HostAssociation::finish_comm(PendingComm& pending) {
  pending.pending.task.comm_call_id = sink_.comm_call_id(pending.comm);
  sink_.add(pending.pending.task);
}

std::int64_t HostAssociation::find_or_add_op(HostOp op, const HostTrack& track,
                                             const std::uint64_t* comm_item) {
  if (is_kernel(track.task_class) && track.has_launch_info) {
    if (track.task_class == TaskClass::simt) {
      op.has_dims = true;
      std::copy(std::begin(track.grid_dim), std::end(track.grid_dim), op.grid_dim);
      std::copy(std::begin(track.block_dim), std::end(track.block_dim), op.block_dim);
    } else {
      op.block_num = track.block_num;
      op.mix_block_num = std::uint32_t{track.block_num} * track.mix_ratio;
    }
  }
  constexpr std::uint32_t kAiCpu = 1;
  constexpr std::uint32_t kCommunication = 9;
  constexpr std::uint32_t kHcclAiCpu = 256;
  const bool has_type = op.task_type != HostOp::kNoTaskType;
  if (comm_item != nullptr) {
    op.name_hash = *comm_item;
    if (has_type && track.task_class == TaskClass::aicpu) op.task_type = kHcclAiCpu;
    if (has_type && track.task_class == TaskClass::aicore) op.task_type = kCommunication;
  } else if (track.task_class == TaskClass::aicpu && op.task_type == kCommunication) {
    op.task_type = kAiCpu;
  }
  return sink_.op_id(op);
}

void HostAssociation::close(HostCallTree& tree, OpenCall& call) {
  if (call.call.level == call_level::kNode && !(call.tasks.empty() && call.comm_tasks.empty()))
    description_.of(call);
  if (call.call.level == call_level::kCommunication && !call.comm_tasks.empty())
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

// Finds the operators of a task from its node's description: one per context, and none for the task
// that contains the contexts.
void HostAssociation::find_operators(const HostTrack& track, const std::uint64_t* comm_item) {
  rows_.clear();
  const auto& contexts = description_.contexts();
  if (!options_.has_contexts || contexts.empty() || !uses_contexts(track.task_class)) {
    rows_.push_back({kInvalidId, description_.has_op()
                                     ? find_or_add_op(description_.op(), track, comm_item)
                                     : kNull});
    return;
  }
  for (const auto& context : contexts) {
    if (context.has_op)
      rows_.push_back({context.context, find_or_add_op(context.op, track, comm_item)});
  }
  rows_.push_back({kInvalidId, kNull});
}

// Called when a call that a communication task waits for has ended.
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
    // Sub tasks of a collective are distinguished by the collective's own records.
    const bool is_told_apart = pending.pending.task.context != kInvalidId;
    if (is_told_apart && row.context != pending.pending.task.context && row.context != kInvalidId) {
      continue;
    }
    if (!is_told_apart) next.pending.task.context = row.context;
    next.pending.task.op_id = row.op_id;
    PendingComm copy = next;
    advance(copy, call);
    if (is_told_apart) break;
  }
}

// Finds the contexts of a communication call, each with its last record.
void HostAssociation::find_contexts(const OpenCall& call) {
  comm_infos_.clear();
  if (options_.has_contexts) {
    for (const std::uint32_t context : call.comm_contexts)
      comm_infos_.try_emplace(context, nullptr);
  }
  for (const auto& info : call.task_infos) {
    auto& place =
        comm_infos_[options_.has_contexts ? std::uint32_t{info.wire.context} : kInvalidId];
    if (place == nullptr || info.sequence > place->sequence) place = &info;
  }
  if (comm_infos_.empty()) comm_infos_.try_emplace(kInvalidId, nullptr);
}

// Creates one task per context.
void HostAssociation::expand_comm(const PendingComm& pending, OpenCall& call) {
  PendingComm next = pending;
  next.comm_call = nullptr;
  for (const auto& [context, info] : comm_infos_) {
    if (context != kInvalidId) next.pending.task.context = context;
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
