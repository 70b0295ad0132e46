#include "import/cann/join/host_tasks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/read_write.hpp"

namespace msprof {

namespace {

[[noreturn]] void fail(const std::filesystem::path& folder, int error_number) {
  throw Error(Exit::cannot_write, fmt::format("cannot keep temporary data in {}: {}",
                                              folder.string(), errno_text(error_number)));
}

FileDescriptor open_unnamed(const std::filesystem::path& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Not every file system supports files without a name.
  std::string name = (folder / ".msprof.tmp.XXXXXX").string();
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) fail(folder, errno);
  ::unlink(name.c_str());
  return file;
}

// Returns true for duplicates of a launch: a record and its copy, or an operator and the
// placeholder of its graph. The one with the operator is kept.
bool is_same_launch(const HostTask& a, const HostTask& b) {
  return a.launch_count == b.launch_count;
}

}  // namespace

HostTaskStore::HostTaskStore(std::filesystem::path folder, bool has_unique_ids)
    : folder_(std::move(folder)), has_unique_ids_(has_unique_ids) {}

void HostTaskStore::add(const HostTask& task) {
  const std::uint32_t stream = has_unique_ids_ ? std::uint32_t{0} : task.stream;
  Segment& segment = segments_[{task.device, stream, task.batch}];
  segment.open.push_back(task);
  if (segment.open.size() == kBlockTasks) spill(segment);
}

void HostTaskStore::spill(Segment& segment) {
  if (!file_) file_ = open_unnamed(folder_);
  const auto bytes = std::as_bytes(std::span(segment.open));
  if (const int error = write_all_at(file_.get(), bytes, file_bytes_)) fail(folder_, error);
  segment.blocks.push_back(file_bytes_);
  file_bytes_ += bytes.size();
  segment.open.clear();
}

void HostTaskStore::read(std::uint64_t offset, std::vector<HostTask>& block) const {
  block.resize(kBlockTasks);
  const auto bytes = std::as_writable_bytes(std::span(block));
  if (read_all_at(file_.get(), bytes, offset) < bytes.size())
    fail(folder_, errno != 0 ? errno : EIO);
}

const HostTask& HostTaskStore::Taken::operator[](std::size_t place) const {
  const std::size_t block = place / kBlockTasks;
  if (block >= blocks_.size()) return rest_[place - blocks_.size() * kBlockTasks];
  if (read_ != block) {
    store_->read(blocks_[block], block_);
    read_ = block;
  }
  return block_[place % kBlockTasks];
}

HostTaskStore::Taken HostTaskStore::take_segment(Segment segment) const {
  Taken taken;
  taken.store_ = this;
  taken.size_ = segment.blocks.size() * kBlockTasks + segment.open.size();
  taken.blocks_ = std::move(segment.blocks);
  taken.rest_ = std::move(segment.open);
  return taken;
}

HostTaskStore::Taken HostTaskStore::take(std::uint16_t device, std::uint32_t stream,
                                         std::uint16_t batch) {
  const auto found = segments_.find({device, stream, batch});
  if (found == segments_.end()) return {};
  Taken taken = take_segment(std::move(found->second));
  segments_.erase(found);
  bool is_sorted = true;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < taken.size() && is_sorted; ++i) {
    const std::uint64_t count = taken[i].launch_count;
    is_sorted = last <= count;
    last = count;
  }
  if (is_sorted) return taken;
  // Not sorted if several threads launch on one stream.
  std::vector<HostTask> tasks;
  tasks.reserve(taken.size());
  for (std::size_t i = 0; i < taken.size(); ++i) tasks.push_back(taken[i]);
  std::stable_sort(tasks.begin(), tasks.end(), [](const HostTask& a, const HostTask& b) {
    return a.launch_count < b.launch_count;
  });
  Segment sorted;
  for (const HostTask& task : tasks) {
    sorted.open.push_back(task);
    if (sorted.open.size() == kBlockTasks) spill(sorted);
  }
  return take_segment(std::move(sorted));
}

std::uint64_t HostTaskStore::remaining(std::uint16_t device) const {
  std::uint64_t count = 0;
  for (auto segment = segments_.lower_bound({device, 0, 0});
       segment != segments_.end() && std::get<0>(segment->first) == device; ++segment) {
    count += segment->second.blocks.size() * kBlockTasks + segment->second.open.size();
  }
  return count;
}

HostJoin::Found HostJoin::find(std::uint32_t stream, std::uint16_t batch_number,
                               std::uint32_t task_number, std::uint32_t context) {
  Batch& batch = find_or_add_batch(stream, batch_number);
  const std::uint32_t place = find_place(batch, task_number, context);
  if (place == FlatTable::kNotFound) return {};
  batch.is_seen[place] = true;
  const Entry& entry = batch.entries[place];
  if (entry.shared != FlatTable::kNotFound) return {nullptr, entry.shared};
  return {&batch.tasks[entry.place], FlatTable::kNotFound};
}

std::uint32_t HostJoin::find_stream(std::uint32_t task_number) {
  Batch& batch = find_or_add_batch(0, 0);
  const std::uint32_t place = find_place(batch, task_number, kInvalidId);
  return place == FlatTable::kNotFound ? kNoStream : batch.tasks[batch.entries[place].place].stream;
}

// Searches near `batch.next` first, because a stream usually runs its tasks in launch order.
std::uint32_t HostJoin::find_place(Batch& batch, std::uint32_t task_number, std::uint32_t context) {
  constexpr std::uint32_t kLooks = 4;
  std::uint32_t place = batch.next;
  const auto end = static_cast<std::uint32_t>(batch.entries.size());
  const std::uint32_t last = std::min(end, place + kLooks);
  const std::uint64_t key = make_key(task_number, context);
  while (place < last && make_key(batch.entries[place]) != key) ++place;
  if (place == last) {
    const auto at = std::lower_bound(batch.order.begin(), batch.order.end(), key,
                                     [&](std::uint32_t entry, std::uint64_t wanted) {
                                       return make_key(batch.entries[entry]) < wanted;
                                     });
    const bool is_there = at != batch.order.end() && make_key(batch.entries[*at]) == key;
    place = is_there ? *at : FlatTable::kNotFound;
  }
  if (place != FlatTable::kNotFound) batch.next = place == 0 ? 0 : place - 1;
  return place;
}

HostJoin::Batch& HostJoin::find_or_add_batch(std::uint32_t stream, std::uint16_t number) {
  std::uint32_t place = numbers_.find(stream);
  if (place == FlatTable::kNotFound) {
    place = static_cast<std::uint32_t>(batches_.size());
    numbers_.set(stream, place);
    batches_.emplace_back();
  }
  Batch& batch = batches_[place];
  if (!batch.is_loaded || batch.number != number) {
    retire(batch);
    load(batch, stream, number);
  }
  return batch;
}

void HostJoin::load(Batch& batch, std::uint32_t stream, std::uint16_t number) {
  batch.number = number;
  batch.is_loaded = true;
  batch.tasks = store_.take(device_, stream, number);
  batch.entries.reserve(batch.tasks.size());
  for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
    const HostTask& task = batch.tasks[i];
    batch.entries.push_back(
        {task.task_number, task.context, static_cast<std::uint32_t>(i), FlatTable::kNotFound});
  }
  sort(batch);
  join_repeated(batch);
  batch.is_seen.resize(batch.entries.size());
}

void HostJoin::sort(Batch& batch) {
  batch.order.resize(batch.entries.size());
  std::iota(batch.order.begin(), batch.order.end(), 0U);
  // Usually sorted already: a stream numbers its launches.
  const bool is_sorted =
      std::is_sorted(batch.entries.begin(), batch.entries.end(),
                     [](const Entry& a, const Entry& b) { return make_key(a) < make_key(b); });
  if (is_sorted) return;
  std::sort(batch.order.begin(), batch.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t key_a = make_key(batch.entries[a]);
    const std::uint64_t key_b = make_key(batch.entries[b]);
    return key_a != key_b ? key_a < key_b : a < b;
  });
}

// Keeps the first entry of each key and adds the others to it, in launch order.
void HostJoin::join_repeated(Batch& batch) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> repeated;  // entry, the first of its key
  std::uint32_t first = 0;
  for (std::size_t i = 1; i < batch.order.size(); ++i) {
    const std::uint32_t entry = batch.order[i];
    if (make_key(batch.entries[entry]) != make_key(batch.entries[batch.order[first]])) {
      first = static_cast<std::uint32_t>(i);
    } else {
      repeated.emplace_back(entry, batch.order[first]);
    }
  }
  if (repeated.empty()) return;
  std::sort(repeated.begin(), repeated.end());
  std::vector<bool> goes(batch.entries.size());
  for (const auto& [entry, kept] : repeated) {
    add_to(batch.entries[kept], batch, batch.entries[entry].place);
    goes[entry] = true;
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < batch.entries.size(); ++i) {
    if (!goes[i]) batch.entries[left++] = batch.entries[i];
  }
  batch.entries.resize(left);
  sort(batch);
}

void HostJoin::add_to(Entry& entry, Batch& batch, std::uint32_t place) {
  const HostTask task = batch.tasks[place];
  const bool is_shared = entry.shared != FlatTable::kNotFound;
  const HostTask last = is_shared ? shared_[entry.shared].hosts.back() : batch.tasks[entry.place];
  if (is_same_launch(last, task)) {
    if (last.op_id != kNull) return;
    if (is_shared) {
      shared_[entry.shared].hosts.back() = task;
    } else {
      entry.place = place;
    }
    return;
  }
  if (!is_shared) {
    entry.shared = next_shared_++;
    shared_[entry.shared].hosts.push_back(last);
    batch.shared.push_back(entry.shared);
  }
  shared_[entry.shared].hosts.push_back(task);
}

void HostJoin::retire(Batch& batch) {
  for (std::size_t i = 0; i < batch.entries.size(); ++i) {
    if (batch.is_seen[i]) continue;
    const std::uint32_t shared = batch.entries[i].shared;
    unseen_ += shared == FlatTable::kNotFound ? 1 : shared_.at(shared).hosts.size();
  }
  for (const std::uint32_t number : batch.shared) {
    SharedKey& key = shared_.at(number);
    key.is_over = true;
    if (key.open == 0) resolved_.push_back(number);
  }
  batch = {};
}

void HostJoin::left(std::uint32_t number, bool has_ended, std::uint32_t task) {
  SharedKey& key = shared_.at(number);
  --key.open;
  if (has_ended) key.tasks.push_back(task);
  if (key.is_over && key.open == 0) resolved_.push_back(number);
}

std::vector<std::uint32_t> HostJoin::resolved(bool all) {
  if (all) {
    for (Batch& batch : batches_) retire(batch);
    resolved_.clear();
    for (const auto& [number, key] : shared_) resolved_.push_back(number);
  }
  return std::exchange(resolved_, {});
}

}  // namespace msprof
