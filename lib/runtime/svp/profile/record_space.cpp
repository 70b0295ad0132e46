#include "runtime/svp/profile/record_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace msprof::runtime {

namespace {

// Minimum growth of a file, so that a file with few records stays small.
constexpr std::uint64_t kLeastAheadBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kMostAheadBytes = std::uint64_t{64} << 10;
// Address space reserved at once; addresses past the end of the file are not touched.
constexpr std::uint64_t kMappedBytes = std::uint64_t{1} << 20;

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool allocate(int fd, std::uint64_t from, std::uint64_t bytes) {
  int result = 0;
  do {
    result = fallocate(fd, 0, static_cast<off_t>(from), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// Loads the pages of new space into memory. Writing zeros is three times as fast as touching the
// pages: on a page fault the kernel first reads the page and its neighbors from unwritten space.
bool write_zeros(int fd, std::uint64_t from, std::uint64_t bytes) {
  static constexpr std::array<char, kLeastAheadBytes> kZeros{};
  std::array<iovec, kMostAheadBytes / kLeastAheadBytes> parts{};
  for (std::uint64_t at = from; at < from + bytes;) {
    std::size_t count = 0;
    for (std::uint64_t left = from + bytes - at; left > 0 && count < parts.size(); ++count) {
      const auto part = std::min<std::uint64_t>(left, kZeros.size());
      parts[count] = {const_cast<char*>(kZeros.data()), static_cast<std::size_t>(part)};
      left -= part;
    }
    const ssize_t written =
        pwritev(fd, parts.data(), static_cast<int>(count), static_cast<off_t>(at));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) at += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

bool RecordSpace::make(int fd, std::uint64_t size_bytes, std::size_t record_bytes,
                       std::uint64_t limit_bytes) {
  // The file always ends at a record boundary, even if a kill leaves unused space after the last
  // record.
  const std::uint64_t wanted = std::clamp(size_bytes, kLeastAheadBytes, kMostAheadBytes);
  const std::uint64_t allowed = limit_bytes > size_bytes ? limit_bytes - size_bytes : 0;
  std::uint64_t records = std::min(wanted, allowed) / record_bytes;
  if (records == 0) {
    errno = EFBIG;
    return false;
  }
  while (!allocate(fd, size_bytes, records * record_bytes)) {
    records /= 2;
    if ((errno != ENOSPC && errno != EDQUOT) || records == 0) return false;
  }
  return write_zeros(fd, size_bytes, records * record_bytes) &&
         map(fd, size_bytes, size_bytes + records * record_bytes);
}

bool RecordSpace::map(int fd, std::uint64_t from, std::uint64_t to) {
  if (base_ == nullptr || to > base_offset_ + mapped_bytes_) {
    leave();
    const std::uint64_t offset = from / page_bytes() * page_bytes();
    void* const base = mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                            static_cast<off_t>(offset));
    if (base == MAP_FAILED) {
      errno = ENODEV;
      return false;
    }
    base_ = static_cast<std::byte*>(base);
    mapped_bytes_ = kMappedBytes;
    base_offset_ = offset;
  }
  next_ = base_ + (from - base_offset_);
  end_ = base_ + (to - base_offset_);
  // Maps all pages at once: page faults cost more than writing the records. Kernels before 5.14 do
  // not support this and map pages on first write. EFAULT means that a page cannot be written.
  const std::uint64_t first = from / page_bytes() * page_bytes() - base_offset_;
  const auto bytes = static_cast<std::size_t>(to - base_offset_ - first);
  if (madvise(base_ + first, bytes, MADV_POPULATE_WRITE) == 0) return true;
  return errno != EFAULT;
}

void RecordSpace::leave() {
  if (base_ != nullptr) munmap(base_, mapped_bytes_);
  base_ = next_ = end_ = nullptr;
}

}  // namespace msprof::runtime
