#include "runtime/svp/profile/record_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/engine/message.hpp"

namespace msprof::runtime {
namespace {

constexpr mode_t kFileMode = 0640;

// Never 0, 1 or 2: an application that closed its stdout would print into our file.
int open_above_stdio(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return higher;
}

// A write beyond RLIMIT_FSIZE raises SIGXFSZ, which would end the application: never try it.
uint64_t size_limit() {
  rlimit limit = {};
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : UINT64_MAX;
}

ssize_t write_retrying(int fd, const void* bytes, std::size_t size) {
  ssize_t written = 0;
  do {
    written = write(fd, bytes, size);
  } while (written < 0 && errno == EINTR);
  return written;
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
  if (!said_.exchange(true)) {
    say(path + " " + what +
        "; the application goes on, records that cannot be written are dropped and counted");
  }
}

bool write_whole_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  if (text.size() > size_limit()) {
    errno = EFBIG;
    return false;
  }
  const int fd = open_above_stdio(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0) return false;
  const ssize_t written = write_retrying(fd, text.data(), text.size());
  int error = written < 0 ? errno : ENOSPC;
  bool good = written == static_cast<ssize_t>(text.size());
  if (close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && rename(temporary.c_str(), path.c_str()) == 0) return true;
  if (good) error = errno;
  unlink(temporary.c_str());
  errno = error;
  return false;
}

RecordFile::RecordFile(std::string path, RecordKind kind, WriteHealth& health)
    : path_(std::move(path)),
      record_bytes_(record_bytes(kind)),
      limit_bytes_(size_limit()),
      health_(health) {
  fd_ = open_above_stdio(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  if (fd_ < 0) {
    health_.lost(0, path_, std::string("cannot be created (") + strerror(errno) + ")");
    return;
  }
  FileHeader header;
  header.record_bytes = record_bytes(kind);
  header.kind = static_cast<uint32_t>(kind);
  if (sizeof header > limit_bytes_) {
    errno = EFBIG;
    fail("cannot be written");
  } else if (write_retrying(fd_, &header, sizeof header) != static_cast<ssize_t>(sizeof header)) {
    fail("cannot be written");
  } else {
    size_bytes_ = sizeof header;
    whole_ = true;
  }
}

RecordFile::~RecordFile() {
  if (fd_ >= 0) close(fd_);
}

// Goes back to the last whole record, so that a reader finds no half of one.
void RecordFile::fail(const char* what) {
  const std::string reason = std::string(what) + " (" + strerror(errno) + ")";
  whole_ = false;
  if (ftruncate(fd_, static_cast<off_t>(size_bytes_)) != 0) {
    // The reader counts the trailing bytes; there is nothing more to do here.
  }
  close(fd_);
  fd_ = -1;
  health_.lost(0, path_, reason);
}

void RecordFile::append(const void* record, uint64_t start_ns, uint64_t end_ns) {
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0) {
    errno = EFBIG;
    ssize_t written = -1;
    if (size_bytes_ + record_bytes_ <= limit_bytes_)
      written = write_retrying(fd_, record, record_bytes_);
    if (written == static_cast<ssize_t>(record_bytes_)) {
      size_bytes_ += record_bytes_;
      if (start_ns < start_ns_) start_ns_ = start_ns;
      if (end_ns > end_ns_) end_ns_ = end_ns;
      return;
    }
    if (written >= 0) errno = ENOSPC;
    fail("cannot be written");
  }
  health_.lost(1, path_, finished_ ? "is finished already" : "cannot be written");
}

void RecordFile::finish(std::string_view more_lines, bool at_exit) {
  const std::unique_lock lock = lock_for(mutex_, at_exit);
  if (!lock.owns_lock() || finished_) return;
  finished_ = true;
  if (!whole_) return;
  const bool closed = close(fd_) == 0;
  const int error = errno;
  fd_ = -1;
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
