#include "import/cann/join/host_tasks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace msprof {

namespace {

[[noreturn]] void fail(const std::filesystem::path& folder, int error_number) {
  throw Error(Exit::cannot_write, fmt::format("cannot keep temporary data in {}: {}",
                                              folder.string(), errno_text(error_number)));
}

FileDescriptor open_unnamed(const std::filesystem::path& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Not every file system has files without a name.
  std::string name = (folder / ".msprof.tmp.XXXXXX").string();
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) fail(folder, errno);
  ::unlink(name.c_str());
  return file;
}

// Duplicates of a launch: a record and its copy, or an operator and the placeholder of
// its graph. The one with the operator stays.
bool is_same_launch(const HostTask& a, const HostTask& b) {
  return a.launch_count == b.launch_count;
}

}  // namespace

HostTaskStore::HostTaskStore(std::filesystem::path folder, bool has_unique_ids)
    : folder_(std::move(folder)), has_unique_ids_(has_unique_ids) {}

void HostTaskStore::add(const HostTask& task) {
  const std::uint16_t stream = has_unique_ids_ ? std::uint16_t{0} : task.stream;
  Segment& segment = segments_[{task.device, stream, task.batch}];
  segment.open.push_back(task);
  if (segment.open.size() == kBlockTasks) spill(segment);
}

void HostTaskStore::spill(Segment& segment) {
  if (!file_) file_ = open_unnamed(folder_);
  const auto bytes = std::as_bytes(std::span(segment.open));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(file_bytes_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(folder_, count < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(count);
  }
  segment.blocks.push_back(file_bytes_);
  file_bytes_ += bytes.size();
  segment.open.clear();
}

std::vector<HostTask> HostTaskStore::take(std::uint16_t device, std::uint16_t stream,
                                          std::uint16_t batch) {
  const auto found = segments_.find({device, stream, batch});
  if (found == segments_.end()) return {};
  const Segment& segment = found->second;
  std::vector<HostTask> tasks(segment.blocks.size() * kBlockTasks);
  HostTask* block = tasks.data();
  for (const std::uint64_t offset : segment.blocks) {
    const auto bytes = std::as_writable_bytes(std::span(block, kBlockTasks));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::pread(file_.get(), bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail(folder_, count < 0 ? errno : EIO);
      done += static_cast<std::size_t>(count);
    }
    block += kBlockTasks;
  }
  tasks.insert(tasks.end(), segment.open.begin(), segment.open.end());
  segments_.erase(found);
  std::stable_sort(tasks.begin(), tasks.end(), [](const HostTask& a, const HostTask& b) {
    return a.launch_count < b.launch_count;
  });
  return tasks;
}

std::uint64_t HostTaskStore::remaining(std::uint16_t device) const {
  std::uint64_t count = 0;
  for (auto segment = segments_.lower_bound({device, 0, 0});
       segment != segments_.end() && std::get<0>(segment->first) == device; ++segment) {
    count += segment->second.blocks.size() * kBlockTasks + segment->second.open.size();
  }
  return count;
}

HostJoin::Found HostJoin::find(std::uint16_t stream, std::uint16_t batch_number,
                               std::uint32_t task_number, std::uint32_t context) {
  Batch& batch = batch_of(stream, batch_number);
  const std::uint32_t place = place_of(batch, task_number, context);
  if (place == FlatTable::kNone) return {};
  Entry& entry = batch.entries[place];
  entry.is_seen = true;
  if (entry.shared != FlatTable::kNone) return {nullptr, entry.shared};
  return {&entry.task, FlatTable::kNone};
}

std::uint16_t HostJoin::stream_of(std::uint32_t task_number) {
  Batch& batch = batch_of(0, 0);
  const std::uint32_t place = place_of(batch, task_number, kNone32);
  return place == FlatTable::kNone ? kNone : batch.entries[place].task.stream;
}

// Searches near first: a stream runs its tasks mostly in the order of their launches.
std::uint32_t HostJoin::place_of(Batch& batch, std::uint32_t task_number, std::uint32_t context) {
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
    retire(batch);
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

void HostJoin::retire(Batch& batch) {
  for (const Entry& entry : batch.entries) {
    if (entry.is_seen) continue;
    unseen_ += entry.shared == FlatTable::kNone ? 1 : shared_.at(entry.shared).hosts.size();
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
