// Space behind the last record of a raw file, mapped, so that a record costs no call of the kernel
// and still is in the file when the application is killed. For RecordFile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::runtime {

// Space is allocated before it is mapped: a full disk is an error of the allocation, never a
// SIGBUS. At most kMostAheadBytes are behind the last record, which is what a drain leaves on the
// board of a file that grows (board.md, "A small disk").
class RecordSpace {
 public:
  RecordSpace() = default;
  ~RecordSpace() { leave(); }
  RecordSpace(const RecordSpace&) = delete;
  RecordSpace& operator=(const RecordSpace&) = delete;

  // Where the next record goes; null where there is no room for it.
  std::byte* next(std::size_t record_bytes) const {
    return static_cast<std::size_t>(end_ - next_) >= record_bytes ? next_ : nullptr;
  }
  void advance(std::size_t record_bytes) { next_ += record_bytes; }

  // Makes room for whole records from `size_bytes` on, where the records of `fd` end, in a file of
  // at most `limit_bytes`. False with errno: EFBIG, ENOSPC or EDQUOT; anything else says that the
  // file cannot be mapped here, so that records must be written.
  bool make(int fd, std::uint64_t size_bytes, std::size_t record_bytes, std::uint64_t limit_bytes);

  // Gives the memory back; the file keeps its length.
  void leave();

 private:
  bool map(int fd, std::uint64_t from, std::uint64_t to);

  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::byte* base_ = nullptr;  // of the mapping
  std::size_t mapped_bytes_ = 0;
  std::uint64_t base_offset_ = 0;  // of the mapping in the file
};

}  // namespace msprof::runtime
