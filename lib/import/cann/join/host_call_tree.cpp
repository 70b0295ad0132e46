#include "import/cann/join/host_call_tree.hpp"

#include <algorithm>

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

// Calls whose end was damaged stay open: looking past so many of them would take forever.
constexpr std::size_t kMostLooks = 256;

bool contains(const OpenCall& open, std::uint64_t time) {
  return open.call.begin < time && time <= open.call.end;
}

// Levels at which calls do not nest; -1: node, which may; -2: not in the tree.
int place_of(std::uint16_t level) {
  switch (level) {
    case host_level::kAcl:
      return 0;
    case host_level::kModel:
      return 1;
    case host_level::kCommunication:
      return 2;
    case host_level::kNode:
      return -1;
    default:
      return -2;
  }
}

}  // namespace

OpenCall* HostCallTree::at(std::uint64_t time) const {
  const std::size_t looks = std::min(calls_.size(), kMostLooks);
  for (std::size_t i = 1; i <= looks; ++i) {
    OpenCall* call = calls_[calls_.size() - i];
    if (contains(*call, time)) return call;
  }
  return nullptr;
}

OpenCall* HostCallTree::at(std::uint64_t time, std::uint16_t level) const {
  const std::size_t looks = std::min(calls_.size(), kMostLooks);
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
  for (OpenCall* call = path.innermost; call != nullptr && looks < kMostLooks;
       call = call->parent, ++looks) {
    const std::uint16_t level = call->call.level;
    if (level == host_level::kModel && path.model == nullptr) path.model = call;
    if (level == host_level::kCommunication && path.communication == nullptr)
      path.communication = call;
    if (level != host_level::kNode) continue;
    if (path.node == nullptr) path.node = call;
    if (path.communication != nullptr && path.node_of_communication == nullptr)
      path.node_of_communication = call;
  }
  if (path.node_of_communication == nullptr) path.node_of_communication = path.node;
  return path;
}

OpenCall* HostCallTree::open(const HostCall& call) {
  const int place = place_of(call.level);
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
  const std::size_t looks = std::min(calls_.size(), kMostLooks);
  for (std::size_t i = 1; i <= looks && opened->parent == nullptr; ++i) {
    OpenCall* parent = calls_[calls_.size() - i];
    if (parent->call.end >= call.end) opened->parent = parent;
  }
  calls_.push_back(opened);
  return opened;
}

OpenCall* HostCallTree::ended(std::uint64_t time) const {
  return !calls_.empty() && calls_.back()->call.end <= time ? calls_.back() : nullptr;
}

void HostCallTree::close_innermost() {
  OpenCall* call = calls_.back();
  calls_.pop_back();
  call->clear();
  free_.push_back(call);
}

}  // namespace msprof
