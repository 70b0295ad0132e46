#include "runtime/svp/profile/record_file.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/engine/files.hpp"
#include "runtime/engine/mapped_space.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::runtime {

namespace {

// Growth of a mapped file: at least this, so that a file with few records stays small; at most as
// much as a drain leaves of a growing file on the board (board.md, "A small disk").
constexpr std::uint64_t kLeastAheadBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kMostAheadBytes = std::uint64_t{64} << 10;

bool is_out_of_space(int error) {
  return error == ENOSPC || error == EDQUOT;
}

void store_record(std::byte* at, const void* record, std::size_t record_bytes) {
  constexpr std::size_t kBehind = kStartOffset + sizeof(uint64_t);
  const auto* const bytes = static_cast<const std::byte*>(record);
  uint64_t start_ns = 0;
  memcpy(&start_ns, bytes + kStartOffset, sizeof start_ns);
  memcpy(at, bytes, kStartOffset);
  memcpy(at + kBehind, bytes + kBehind, record_bytes - kBehind);
  std::atomic_ref(*reinterpret_cast<uint64_t*>(at + kStartOffset))
      .store(start_ns, std::memory_order_release);
}

}  // namespace

std::unique_lock<std::mutex> lock_for(std::mutex& mutex, bool at_exit) {
  if (!at_exit) return std::unique_lock(mutex);
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int tries = 0; !lock.owns_lock() && tries < 50; ++tries) {
    const timespec millisecond = {0, 1'000'000};
    nanosleep(&millisecond, nullptr);
    lock.try_lock();
  }
  return lock;
}

void WriteHealth::lost(uint64_t records, const std::string& path, const std::string& what) {
  lost_ += records;
  if (!has_reported_.exchange(true)) {
    say(path + " " + what +
        "; the application continues, records that cannot be written are dropped and counted");
  }
}

RecordFile::RecordFile(std::string path, RecordKind kind, WriteHealth& health)
    : path_(std::move(path)),
      record_bytes_(record_bytes(kind)),
      limit_bytes_(size_limit()),
      health_(health) {
  FileHeader header;
  header.record_bytes = record_bytes(kind);
  header.kind = static_cast<uint32_t>(kind);
  const int fd = open_above_stdio(path_, O_RDWR | O_CREAT | O_EXCL);
  if (fd < 0) {
    health_.lost(0, path_, std::string("cannot be created (") + strerror(errno) + ")");
    return;
  }
  file_ = HeldDescriptor(fd);
  is_open_ = true;
  if (sizeof header > limit_bytes_) {
    errno = EFBIG;
    fail();
  } else if (write_retrying(fd, &header, sizeof header) != static_cast<ssize_t>(sizeof header)) {
    fail();
  } else {
    size_bytes_ = sizeof header;
    is_mapped_ = may_be_mapped(path_);
  }
}

// Returns the descriptor, reopening the file if the application has closed it. -1 with errno on
// error.
int RecordFile::descriptor() {
  if (const int fd = file_.get(); fd >= 0) return fd;
  const int fd = open_above_stdio(path_, O_RDWR);
  if (fd >= 0) file_ = HeldDescriptor(fd);
  return fd;
}

// Truncates the file to the last whole record.
void RecordFile::fail() {
  const std::string reason = std::string("cannot be written (") + strerror(errno) + ")";
  is_open_ = false;
  unmap();
  if (ftruncate(descriptor(), static_cast<off_t>(size_bytes_)) != 0) {
    // The reader counts the trailing bytes; nothing more can be done here.
  }
  file_.close();
  health_.lost(0, path_, reason);
}

void RecordFile::count(uint64_t start_ns, uint64_t end_ns) {
  size_bytes_ += record_bytes_;
  if (start_ns < start_ns_) start_ns_ = start_ns;
  if (end_ns > end_ns_) end_ns_ = end_ns;
}

// Returns false if the record must be written with write(), and false with errno on error.
bool RecordFile::store(const void* record) {
  if (!is_mapped_) return false;
  if (next_ == space_end_ && !map_more()) {
    if (!is_out_of_space(errno) && errno != EFBIG) write_from_now_on();
    return false;
  }
  store_record(next_, record, record_bytes_);
  next_ += record_bytes_;
  return true;
}

// Makes room for whole records after the last one. Returns false with errno on error: EFBIG, ENOSPC
// and EDQUOT mean no space; any other error means that the file cannot be mapped.
bool RecordFile::map_more() {
  unmap();
  const int fd = descriptor();
  if (fd < 0) return false;
  const std::uint64_t wanted = std::clamp(size_bytes_, kLeastAheadBytes, kMostAheadBytes);
  const std::uint64_t limit = size_limit();
  const std::uint64_t allowed = limit > size_bytes_ ? limit - size_bytes_ : 0;
  errno = EFBIG;
  // The file always ends at a record boundary, even if a kill leaves unused space after the last
  // record.
  for (std::uint64_t records = std::min(wanted, allowed) / record_bytes_; records > 0;
       records /= 2) {
    const auto bytes = static_cast<std::size_t>(records * record_bytes_);
    space_ = map_space(fd, size_bytes_, bytes, bytes);
    if (space_ != nullptr) {
      next_ = space_;
      space_end_ = space_ + bytes;
      return true;
    }
    if (!is_out_of_space(errno)) break;
  }
  return false;
}

void RecordFile::unmap() {
  if (space_ != nullptr) unmap_space(space_, static_cast<std::size_t>(space_end_ - space_));
  space_ = next_ = space_end_ = nullptr;
}

void RecordFile::write_from_now_on() {
  is_mapped_ = false;
  unmap();
  // If this fails, a reader finds zeros after the records and skips them.
  static_cast<void>(ftruncate(descriptor(), static_cast<off_t>(size_bytes_)) == 0);
}

bool RecordFile::write(const void* record) {
  if (is_mapped_) return false;
  errno = EFBIG;
  if (size_bytes_ + record_bytes_ > limit_bytes_) return false;
  const int fd = descriptor();
  if (fd < 0) return false;
  ssize_t written = 0;
  do {
    written = pwrite(fd, record, record_bytes_, static_cast<off_t>(size_bytes_));
  } while (written < 0 && errno == EINTR);
  if (written >= 0) errno = ENOSPC;
  return written == static_cast<ssize_t>(record_bytes_);
}

void RecordFile::append(const void* record, uint64_t start_ns, uint64_t end_ns) {
  const std::lock_guard lock(mutex_);
  if (is_open_) {
    if (store(record) || write(record)) {
      count(start_ns, end_ns);
      return;
    }
    fail();
  }
  health_.lost(1, path_, is_finished_ ? "is already finished" : "cannot be written");
}

void RecordFile::finish(std::string_view more_lines, bool at_exit) {
  const std::unique_lock lock = lock_for(mutex_, at_exit);
  if (!lock.owns_lock() || is_finished_) return;
  is_finished_ = true;
  if (!is_open_) return;
  unmap();
  is_open_ = false;
  bool closed = !is_mapped_ || ftruncate(descriptor(), static_cast<off_t>(size_bytes_)) == 0;
  int error = errno;
  if (!file_.close() && closed) {
    closed = false;
    error = errno;
  }
  const uint64_t start_us = start_ns_ == UINT64_MAX ? 0 : start_ns_ / 1000;
  const std::string text =
      "file_len:" + std::to_string(size_bytes_) + "\nstart_time:" + std::to_string(start_us) +
      "\nend_time:" + std::to_string(end_ns_ / 1000) + "\n" + std::string(more_lines);
  errno = error;
  if (!closed || !write_whole_file(path_ + ".done", text)) {
    health_.lost(0, path_ + ".done", std::string("cannot be written (") + strerror(errno) + ")");
  }
}

void RecordFile::discard(bool at_exit) {
  const std::unique_lock lock = lock_for(mutex_, at_exit);
  if (!lock.owns_lock() || is_finished_) return;
  is_finished_ = true;
  is_open_ = false;
  unmap();
  file_.close();
  unlink(path_.c_str());
}

}  // namespace msprof::runtime
