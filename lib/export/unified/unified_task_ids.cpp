#include "export/unified/unified_task_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace msprof::unified {

namespace {

constexpr std::size_t kBitsPerTask = 16;
constexpr std::size_t kMostBits = std::size_t{1} << 31;

std::string all_keys() {
  return fmt::format("SELECT id, {} FROM task WHERE device_type_name_id IS NOT NULL ORDER BY id",
                     kTaskKeyColumns);
}

}  // namespace

TaskKey task_key(const Statement& row, int first_cell) {
  return {row.integer(first_cell), row.integer(first_cell + 1), row.integer(first_cell + 2),
          row.integer(first_cell + 3), row.maybe_integer(first_cell + 4).value_or(-1)};
}

std::size_t TaskIds::KeyHash::operator()(const TaskKey& key) const {
  std::uint64_t hash = 0;
  for (const std::int64_t part : {key.device, key.stream, key.number, key.batch, key.context}) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

TaskIds::TaskIds(const Database& store) {
  Statement read = store.prepare("SELECT count(*), ifnull(max(id), 0) FROM task");
  if (!read.step() || read.integer(0) == 0) return;
  largest_id_ = read.integer(1);
  const auto tasks = static_cast<std::size_t>(read.integer(0));
  mask_ = std::min(std::bit_ceil(tasks * kBitsPerTask), kMostBits) - 1;
  met_.resize(mask_ + 1);
  repeated_.resize(mask_ + 1);
  find_repeated(store);
  keep_repeated(store);
  met_ = {};
}

void TaskIds::find_repeated(const Database& store) {
  Statement read = store.prepare(all_keys());
  while (read.step()) {
    const std::size_t at = KeyHash()(task_key(read, 1)) & mask_;
    met_[at] ? repeated_[at] = true : met_[at] = true;
  }
}

void TaskIds::keep_repeated(const Database& store) {
  if (std::find(repeated_.begin(), repeated_.end(), true) == repeated_.end()) return;
  Statement read = store.prepare(all_keys());
  while (read.step()) {
    const TaskKey key = task_key(read, 1);
    if (may_repeat(key)) shared_.try_emplace(key, Shared{read.integer(0)});
  }
}

bool TaskIds::may_repeat(const TaskKey& key) const {
  return !repeated_.empty() && repeated_[KeyHash()(key) & mask_];
}

std::int64_t TaskIds::of(std::int64_t task_id, const TaskKey& key) const {
  if (!may_repeat(key)) return task_id;
  const auto at = shared_.find(key);
  return at == shared_.end() ? task_id : at->second.first_id;
}

bool TaskIds::describe(std::int64_t task_id, const TaskKey& key) {
  if (!may_repeat(key)) return true;
  const auto at = shared_.try_emplace(key, Shared{task_id}).first;
  return !std::exchange(at->second.is_described, true);
}

}  // namespace msprof::unified
