#include "runtime/prof/record_queue.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "runtime/engine/files.hpp"

namespace msprof::runtime {
namespace {

constexpr std::size_t kMemoryBytes = 2 << 20;
// Records per file read or write, and in the tail. kMemoryBytes is for the tail and the ring.
constexpr std::size_t kBatch = (64 << 10) / sizeof(OpRecord);
constexpr std::size_t kMemoryRecords = kMemoryBytes / sizeof(OpRecord) - kBatch;
constexpr mode_t kFileMode = 0600;

}  // namespace

RecordQueue::RecordQueue(std::uint64_t spill_bytes)
    : slots_(std::min<std::uint64_t>(spill_bytes, size_limit()) / sizeof(OpRecord)) {}

std::uint64_t RecordQueue::size() const {
  return count_ + file_count_ + tail_.size();
}

bool RecordQueue::push(const OpRecord& record) {
  const bool behind = file_count_ > 0 || !tail_.empty();
  if (!behind && count_ < kMemoryRecords) {
    memory_.resize(kMemoryRecords);
    memory_[(begin_ + count_) % kMemoryRecords] = record;
    ++count_;
    return true;
  }
  if (file_count_ + tail_.size() >= slots_ || has_file_failed_) return false;
  if (tail_.size() >= kBatch && !write_tail()) return false;
  tail_.push_back(record);
  return true;
}

std::span<const OpRecord> RecordQueue::front(std::size_t count) {
  if (count_ == 0) {
    begin_ = 0;
    if (file_count_ > 0) {
      read_file();
    } else {
      std::copy(tail_.begin(), tail_.end(), memory_.begin());
      count_ = tail_.size();
      tail_.clear();
      has_file_failed_ = false;
    }
  }
  const std::size_t together = std::min({count, count_, kMemoryRecords - begin_});
  return std::span<const OpRecord>(memory_).subspan(begin_, together);
}

void RecordQueue::drop(std::size_t count) {
  begin_ = (begin_ + count) % kMemoryRecords;
  count_ -= count;
}

// Opens an unlinked file, which disappears with the process. If the application closes its
// descriptor, its records are lost; a new file is opened once they are dropped.
bool RecordQueue::open_file() {
  if (file_.get() >= 0) return true;
  if (file_count_ > 0) return false;
  const char* const wanted = secure_getenv("TMPDIR");
  const std::string folder = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kFileMode);
  if (fd < 0) {
    std::string name = folder + "/msprof_subscribe_XXXXXX";
    fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) unlink(name.c_str());
  }
  // Never use 0, 1 or 2: an application that closed its stdout would print into the file.
  if (fd >= 0 && fd <= STDERR_FILENO) {
    const int low = fd;
    fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(low);
  }
  file_ = HeldDescriptor(fd);
  return fd >= 0;
}

// Transfers records between memory and consecutive slots of the file.
bool RecordQueue::transfer(bool writing, OpRecord* records, std::size_t count, std::uint64_t slot) {
  auto* bytes = reinterpret_cast<char*>(records);
  std::size_t left = count * sizeof(OpRecord);
  auto offset = static_cast<off_t>(slot * sizeof(OpRecord));
  const int fd = file_.get();
  while (left > 0) {
    const ssize_t moved =
        writing ? pwrite(fd, bytes, left, offset) : pread(fd, bytes, left, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    bytes += moved;
    offset += moved;
    left -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool RecordQueue::write_tail() {
  const std::uint64_t end = (file_begin_ + file_count_) % slots_;
  const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(tail_.size(), slots_ - end));
  if (!open_file() || !transfer(true, tail_.data(), first, end) ||
      !transfer(true, tail_.data() + first, tail_.size() - first, 0)) {
    // The tail stays in memory and is still sent.
    has_file_failed_ = true;
    return false;
  }
  file_count_ += tail_.size();
  tail_.clear();
  return true;
}

void RecordQueue::read_file() {
  const auto count = static_cast<std::size_t>(
      std::min({file_count_, std::uint64_t{kBatch}, slots_ - file_begin_}));
  count_ = transfer(false, memory_.data(), count, file_begin_) ? count : 0;
  unreadable_ += count - count_;
  file_begin_ = (file_begin_ + count) % slots_;
  file_count_ -= count;
  // The file is empty: release its disk space.
  if (file_count_ == 0 && ftruncate(file_.get(), 0) == 0) file_begin_ = 0;
}

}  // namespace msprof::runtime
