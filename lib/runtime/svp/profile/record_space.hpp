// Mapped space after the last record of a raw file. Storing a record needs no system call, and the
// record survives if the application is killed. For RecordFile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::runtime {

// Space is allocated before it is mapped, so a full disk is an allocation error and never a SIGBUS.
// At most kMostAheadBytes are allocated after the last record; a drain leaves that much of a
// growing file on the board (board.md, "A small disk").
class RecordSpace {
 public:
  RecordSpace() = default;
  ~RecordSpace() { leave(); }
  RecordSpace(const RecordSpace&) = delete;
  RecordSpace& operator=(const RecordSpace&) = delete;

  // Address of the next record; null if there is no room for it.
  std::byte* next(std::size_t record_bytes) const {
    return static_cast<std::size_t>(end_ - next_) >= record_bytes ? next_ : nullptr;
  }
  void advance(std::size_t record_bytes) { next_ += record_bytes; }

  // Makes room for whole records after `size_bytes`, the end of the records of `fd`. The file grows
  // to at most `limit_bytes`. Returns false with errno on error: EFBIG, ENOSPC and EDQUOT mean no
  // space; any other error means that the file cannot be mapped and records must be written with
  // write().
  bool make(int fd, std::uint64_t size_bytes, std::size_t record_bytes, std::uint64_t limit_bytes);

  // Unmaps the memory; the length of the file does not change.
  void leave();

 private:
  bool map(int fd, std::uint64_t from, std::uint64_t to);

  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::byte* base_ = nullptr;  // start of the mapping
  std::size_t mapped_bytes_ = 0;
  std::uint64_t base_offset_ = 0;  // file offset of the mapping
};

}  // namespace msprof::runtime
