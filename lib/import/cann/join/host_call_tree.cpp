#include "import/cann/join/host_call_tree.hpp"

#include <algorithm>
#include <tuple>

namespace msprof {

void OpenCall::clear() {
  parent = nullptr;
  tasks.clear();
  comm_tasks.clear();
  basics.clear();
  attributes.clear();
  tensors.clear();
  tensor_bytes.clear();
  contexts.clear();
  has_op_info = false;
  task_infos.clear();
  comm_contexts.clear();
}

namespace {

// Maximum number of open calls searched. Calls whose end was damaged stay open, and searching many
// of them would be too slow.
constexpr std::size_t kMaxSteps = 256;

bool contains(const OpenCall& open, std::uint64_t time) {
  return open.call.begin < time && time <= open.call.end;
}

// Index of a level whose calls do not nest; -1: node level, whose calls may nest; -2: not in the
// tree.
int level_index(std::uint16_t level) {
  switch (level) {
    case call_level::kAcl:
      return 0;
    case call_level::kModel:
      return 1;
    case call_level::kCommunication:
      return 2;
    case call_level::kNode:
      return -1;
    default:
      return -2;
  }
}

constexpr std::uint32_t kFftsPlusMarker = 6;  // table T1: announces a graph, not an operator

template <typename Wire>
std::uint64_t record_name(const HostRecord<Wire>& record) {
  return record.wire.name;
}

std::uint64_t record_name(const OpenCall::Tensors& tensors) {
  return tensors.name_hash;
}

template <typename Record>
const Record* last_record(std::span<const Record> records) {
  const Record* last = nullptr;
  for (const Record& record : records) {
    if (last == nullptr || record.sequence > last->sequence) last = &record;
  }
  return last;
}

// Returns the records with one name, or all if `name` is null. With a name, `records` must be
// sorted by name.
template <typename Record>
std::span<const Record> named(const std::vector<Record>& records, const std::uint64_t* name) {
  if (name == nullptr) return records;
  const auto first =
      std::lower_bound(records.begin(), records.end(), *name,
                       [](const Record& a, std::uint64_t hash) { return record_name(a) < hash; });
  auto last = first;
  while (last != records.end() && record_name(*last) == *name) ++last;
  return {first, last};
}

}  // namespace

OpenCall* HostCallTree::at(std::uint64_t time) const {
  const std::size_t looks = std::min(calls_.size(), kMaxSteps);
  for (std::size_t i = 1; i <= looks; ++i) {
    OpenCall* call = calls_[calls_.size() - i];
    if (contains(*call, time)) return call;
  }
  return nullptr;
}

OpenCall* HostCallTree::at(std::uint64_t time, std::uint16_t level) const {
  const std::size_t looks = std::min(calls_.size(), kMaxSteps);
  for (std::size_t i = 1; i <= looks; ++i) {
    OpenCall* call = calls_[calls_.size() - i];
    if (call->call.level == level && contains(*call, time)) return call;
  }
  return nullptr;
}

CallPath HostCallTree::path(std::uint64_t time) const {
  CallPath path;
  path.innermost = at(time);
  std::size_t looks = 0;
  for (OpenCall* call = path.innermost; call != nullptr && looks < kMaxSteps;
       call = call->parent, ++looks) {
    const std::uint16_t level = call->call.level;
    if (level == call_level::kModel && path.model == nullptr) path.model = call;
    if (level == call_level::kCommunication && path.communication == nullptr)
      path.communication = call;
    if (level != call_level::kNode) continue;
    if (path.node == nullptr) path.node = call;
    if (path.communication != nullptr && path.node_of_communication == nullptr)
      path.node_of_communication = call;
  }
  if (path.node_of_communication == nullptr) path.node_of_communication = path.node;
  return path;
}

OpenCall* HostCallTree::open(const HostCall& call) {
  const int place = level_index(call.level);
  if (place == -2 || call.begin >= call.end) return nullptr;
  if (place >= 0) {
    std::uint64_t& last_end = last_end_[place];
    if (call.begin <= last_end) return nullptr;
    last_end = call.end;
  }
  OpenCall* opened = nullptr;
  if (free_.empty()) {
    owned_.push_back(std::make_unique<OpenCall>());
    opened = owned_.back().get();
  } else {
    opened = free_.back();
    free_.pop_back();
  }
  opened->call = call;
  const std::size_t looks = std::min(calls_.size(), kMaxSteps);
  for (std::size_t i = 1; i <= looks && opened->parent == nullptr; ++i) {
    OpenCall* parent = calls_[calls_.size() - i];
    if (parent->call.end >= call.end) opened->parent = parent;
  }
  calls_.push_back(opened);
  return opened;
}

OpenCall* HostCallTree::find_ended(std::uint64_t time) const {
  return !calls_.empty() && calls_.back()->call.end <= time ? calls_.back() : nullptr;
}

void HostCallTree::close_innermost() {
  OpenCall* call = calls_.back();
  calls_.pop_back();
  call->clear();
  free_.push_back(call);
}

void NodeDescription::of(OpenCall& call) {
  has_op_ = false;
  has_first_ = false;
  contexts_.clear();
  joined_.clear();
  for (const auto& basic : call.basics) {
    if (!has_first_ || basic.sequence < first_.sequence) first_ = basic;
    has_first_ = true;
  }
  describe_whole(call);
  if (!call.contexts.empty()) describe_contexts(call);
}

void NodeDescription::fill(HostOp& op, const HostRecord<NodeBasicInfoWire>& basic) const {
  const NodeBasicInfoWire& wire = basic.wire;
  op = HostOp();
  op.name_hash = wire.name;
  op.block_num = wire.blocks & 0xFFFF;
  op.mix_block_num = op.block_num * (wire.blocks >> 16);
  if (names_only_) return;
  op.type_hash = wire.type;
  op.task_type = wire.task_type;
  op.is_dynamic = basic.is_unaging ? 0 : 1;
  op.is_hf32 = wire.flag != 0 ? 1 : 0;
}

void NodeDescription::describe_whole(OpenCall& call) {
  const auto* last = last_record<HostRecord<NodeBasicInfoWire>>(call.basics);
  if (last == nullptr) {
    // At level 0 the call itself names the operator.
    if (!names_only_ || call.call.item == 0) return;
    op_ = HostOp();
    op_.name_hash = call.call.item;
    has_op_ = true;
    return;
  }
  if (last->wire.task_type == kFftsPlusMarker) return;
  fill(op_, *last);
  add_attribute(op_, call, nullptr);
  add_tensors(op_, call, nullptr);
  has_op_ = true;
}

void NodeDescription::describe_contexts(OpenCall& call) {
  auto& ids = call.contexts;
  // Keeps the last record of each context.
  std::sort(ids.begin(), ids.end(), [](const auto& a, const auto& b) {
    return std::tie(a.id, b.sequence) < std::tie(b.id, a.sequence);
  });
  ids.erase(std::unique(ids.begin(), ids.end(),
                        [](const auto& a, const auto& b) { return a.id == b.id; }),
            ids.end());
  const bool same_name = std::all_of(ids.begin(), ids.end(), [&](const auto& context) {
    return context.name_hash == ids.front().name_hash;
  });
  if (!same_name) {
    describe_by_name(call);
    return;
  }
  for (const auto& context : ids) contexts_.push_back({context.id, op_, has_op_});
}

// Describes several operators of one node, distinguished by their contexts.
void NodeDescription::describe_by_name(OpenCall& call) {
  sort_by_name(call);
  for (const auto& context : call.contexts) {
    ContextOp described;
    described.context = context.id;
    const HostRecord<NodeBasicInfoWire>* last = nullptr;
    for (const auto& basic : named(call.basics, &context.name_hash)) {
      if (basic.wire.task_type == kFftsPlusMarker) continue;
      if (last == nullptr || basic.sequence > last->sequence) last = &basic;
    }
    if (last != nullptr) {
      fill(described.op, *last);
      add_attribute(described.op, call, &context.name_hash);
      add_tensors(described.op, call, &context.name_hash);
      described.has_op = true;
    }
    contexts_.push_back(described);
  }
}

void NodeDescription::sort_by_name(OpenCall& call) {
  const auto by_name = [](const auto& a, const auto& b) { return record_name(a) < record_name(b); };
  std::stable_sort(call.basics.begin(), call.basics.end(), by_name);
  std::stable_sort(call.attributes.begin(), call.attributes.end(), by_name);
  std::stable_sort(call.tensors.begin(), call.tensors.end(), by_name);
}

void NodeDescription::add_attribute(HostOp& op, const OpenCall& call,
                                    const std::uint64_t* name) const {
  if (names_only_) return;
  if (const auto* last = last_record(named(call.attributes, name)))
    op.attribute_hash = last->wire.attribute;
}

// Records with equal name and time are one tensor list, split because of its length. If there are
// several lists, the one that starts last is used.
void NodeDescription::add_tensors(HostOp& op, const OpenCall& call, const std::uint64_t* name) {
  using Tensors = OpenCall::Tensors;
  const auto records = named(call.tensors, name);
  if (names_only_ || records.empty()) return;
  const auto bytes_in = [&](const Tensors& record) {
    return std::span<const std::byte>(call.tensor_bytes).subspan(record.first_byte, record.bytes);
  };
  if (records.size() == 1) {
    op.tensors = bytes_in(records.front());
    return;
  }
  std::vector<const Tensors*> lists;
  for (const Tensors& record : records) lists.push_back(&record);
  std::sort(lists.begin(), lists.end(), [](const Tensors* a, const Tensors* b) {
    return std::tie(a->name_hash, a->time, a->sequence) <
           std::tie(b->name_hash, b->time, b->sequence);
  });
  const auto same_list = [](const Tensors* a, const Tensors* b) {
    return a->name_hash == b->name_hash && a->time == b->time;
  };
  auto best = lists.begin();
  for (auto first = lists.begin(); first != lists.end();) {
    if ((*first)->sequence > (*best)->sequence) best = first;
    const Tensors* head = *first;
    while (first != lists.end() && same_list(head, *first)) ++first;
  }
  auto& joined = joined_.emplace_back();
  const Tensors* head = *best;
  for (; best != lists.end() && same_list(head, *best); ++best) {
    const auto bytes = bytes_in(**best);
    joined.insert(joined.end(), bytes.begin(), bytes.end());
  }
  op.tensors = joined;
}

}  // namespace msprof
