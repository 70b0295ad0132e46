#include "import/cann/join/host_join.hpp"

#include <algorithm>
#include <utility>

namespace msprof {

namespace {

// The same launch, told twice: by a record and its copy, or by an operator and the place holder of
// its graph. The one that knows the operator stays.
bool is_same_launch(const HostTask& a, const HostTask& b) {
  return a.launch_count == b.launch_count;
}

}  // namespace

HostJoin::Found HostJoin::find(std::uint16_t stream, std::uint16_t batch_number,
                               std::uint16_t task_number, std::uint32_t context) {
  Batch& batch = batch_of(stream, batch_number);
  const std::uint32_t place = place_of(batch, task_number, context);
  if (place == FlatTable::kNone) return {};
  Entry& entry = batch.entries[place];
  entry.is_seen = true;
  if (entry.shared != FlatTable::kNone) return {nullptr, entry.shared};
  return {&entry.task, FlatTable::kNone};
}

// A stream runs its tasks mostly in the order of their launches: what is near is the likeliest.
std::uint32_t HostJoin::place_of(Batch& batch, std::uint16_t task_number, std::uint32_t context) {
  constexpr std::uint32_t kLooks = 4;
  std::uint32_t place = batch.next;
  const auto end = static_cast<std::uint32_t>(batch.entries.size());
  for (const std::uint32_t last = std::min(end, place + kLooks); place < last; ++place) {
    const HostTask& task = batch.entries[place].task;
    if (task.task_number == task_number && task.context == context) break;
  }
  if (place >= std::min(end, batch.next + kLooks))
    place = batch.places.find(key_of(task_number, context));
  if (place != FlatTable::kNone) batch.next = place == 0 ? 0 : place - 1;
  return place;
}

HostJoin::Batch& HostJoin::batch_of(std::uint16_t stream, std::uint16_t number) {
  std::uint32_t place = numbers_.find(stream);
  if (place == FlatTable::kNone) {
    place = static_cast<std::uint32_t>(batches_.size());
    numbers_.set(stream, place);
    batches_.emplace_back();
  }
  Batch& batch = batches_[place];
  if (!batch.is_loaded || batch.number != number) {
    leave(batch);
    load(batch, stream, number);
  }
  return batch;
}

void HostJoin::load(Batch& batch, std::uint16_t stream, std::uint16_t number) {
  batch.number = number;
  batch.is_loaded = true;
  const std::vector<HostTask> tasks = store_.take(device_, stream, number);
  batch.entries.reserve(tasks.size());
  for (const HostTask& task : tasks) add(batch, task);
}

void HostJoin::add(Batch& batch, const HostTask& task) {
  const std::uint64_t key = key_of(task.task_number, task.context);
  const std::uint32_t place = batch.places.find(key);
  if (place == FlatTable::kNone) {
    batch.places.set(key, static_cast<std::uint32_t>(batch.entries.size()));
    batch.entries.push_back({task, FlatTable::kNone, false});
    return;
  }
  Entry& entry = batch.entries[place];
  HostTask& last =
      entry.shared == FlatTable::kNone ? entry.task : shared_[entry.shared].hosts.back();
  if (is_same_launch(last, task)) {
    if (last.op_id == kNull) last = task;
    return;
  }
  if (entry.shared == FlatTable::kNone) {
    entry.shared = next_shared_++;
    shared_[entry.shared].hosts.push_back(entry.task);
    batch.shared.push_back(entry.shared);
  }
  shared_[entry.shared].hosts.push_back(task);
}

void HostJoin::leave(Batch& batch) {
  for (const Entry& entry : batch.entries) {
    if (entry.is_seen) continue;
    unseen_ += entry.shared == FlatTable::kNone ? 1 : shared_.at(entry.shared).hosts.size();
  }
  for (const std::uint32_t number : batch.shared) {
    SharedKey& key = shared_.at(number);
    key.is_over = true;
    if (key.open == 0) settled_.push_back(number);
  }
  batch = {};
}

void HostJoin::left(std::uint32_t number, bool has_ended, std::uint32_t task) {
  SharedKey& key = shared_.at(number);
  --key.open;
  if (has_ended) key.tasks.push_back(task);
  if (key.is_over && key.open == 0) settled_.push_back(number);
}

std::vector<std::uint32_t> HostJoin::settled(bool all) {
  if (all) {
    for (Batch& batch : batches_) leave(batch);
    settled_.clear();
    for (const auto& [number, key] : shared_) settled_.push_back(number);
  }
  return std::exchange(settled_, {});
}

}  // namespace msprof
