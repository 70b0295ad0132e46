#include "runtime/svp/profile/record_file.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::runtime {

namespace {

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
    fail("cannot be written");
  } else if (write_retrying(fd, &header, sizeof header) != static_cast<ssize_t>(sizeof header)) {
    fail("cannot be written");
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
void RecordFile::fail(const char* what) {
  const std::string reason = std::string(what) + " (" + strerror(errno) + ")";
  is_open_ = false;
  space_.leave();
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
  if (space_.next(record_bytes_) == nullptr &&
      !space_.make(descriptor(), size_bytes_, record_bytes_, size_limit())) {
    if (errno != EFBIG && errno != ENOSPC && errno != EDQUOT) write_from_now_on();
    return false;
  }
  store_record(space_.next(record_bytes_), record, record_bytes_);
  space_.advance(record_bytes_);
  return true;
}

void RecordFile::write_from_now_on() {
  is_mapped_ = false;
  space_.leave();
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
    fail("cannot be written");
  }
  health_.lost(1, path_, is_finished_ ? "is already finished" : "cannot be written");
}

void RecordFile::finish(std::string_view more_lines, bool at_exit) {
  const std::unique_lock lock = lock_for(mutex_, at_exit);
  if (!lock.owns_lock() || is_finished_) return;
  is_finished_ = true;
  if (!is_open_) return;
  space_.leave();
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

}  // namespace msprof::runtime
