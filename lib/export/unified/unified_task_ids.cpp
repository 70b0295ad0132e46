#include "export/unified/unified_task_ids.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "export/cann_rules.hpp"
#include "store/row_cursor.hpp"

namespace msprof::unified {

namespace {

constexpr std::size_t kBitsPerTask = 16;
constexpr std::size_t kMostBits = std::size_t{1} << 31;

}  // namespace

TaskKey task_key(const TaskRow& task) {
  return {task.device_id, task.stream_id, task.task_number, task.batch,
          given(task.context).value_or(-1)};
}

TaskKey task_key(const Statement& row, int first_cell) {
  return {row.integer(first_cell), row.integer(first_cell + 1), row.integer(first_cell + 2),
          row.integer(first_cell + 3), row.maybe_integer(first_cell + 4).value_or(-1)};
}

std::size_t TaskIds::KeyHash::operator()(const TaskKey& key) const {
  return cann::hash_of({key.device, key.stream, key.number, key.batch, key.context});
}

TaskIds::TaskIds(const Database& store) {
  Statement read = store.prepare("SELECT count(*), ifnull(max(id), 0) FROM task");
  if (!read.step() || read.integer(0) == 0) return;
  largest_id_ = read.integer(1);
  const auto tasks = static_cast<std::size_t>(read.integer(0));
  mask_ = std::min(std::bit_ceil(tasks * kBitsPerTask), kMostBits) - 1;
  repeated_.resize(mask_ + 1);
  find_repeated(store);
}

void TaskIds::find_repeated(const Database& store) {
  std::vector<bool> met(mask_ + 1);
  RowCursor<TaskRow> tasks(store,
                           {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
                            &TaskRow::batch, &TaskRow::context},
                           {.not_null = {&TaskRow::device_type_name_id}});
  while (tasks.next()) {
    const std::size_t at = KeyHash()(task_key(*tasks)) & mask_;
    met[at] ? repeated_[at] = true : met[at] = true;
  }
}

bool TaskIds::may_repeat(const TaskKey& key) const {
  return !repeated_.empty() && repeated_[KeyHash()(key) & mask_];
}

std::int64_t TaskIds::of(std::int64_t task_id, const TaskKey& key) {
  return may_repeat(key) ? shared_.try_emplace(key, Shared{task_id}).first->second.first_id
                         : task_id;
}

std::int64_t TaskIds::extra(std::int64_t number) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(largest_id_) + 1 +
                                   static_cast<std::uint64_t>(number));
}

bool TaskIds::describe(std::int64_t task_id, const TaskKey& key) {
  if (!may_repeat(key)) return true;
  const auto at = shared_.try_emplace(key, Shared{task_id}).first;
  return !std::exchange(at->second.is_described, true);
}

}  // namespace msprof::unified
