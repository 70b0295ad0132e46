#include "import/cann/join/host_task_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

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

}  // namespace

HostTaskStore::HostTaskStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

void HostTaskStore::add(const HostTask& task) {
  Segment& segment = segments_[{task.device, task.stream, task.batch}];
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

}  // namespace msprof
