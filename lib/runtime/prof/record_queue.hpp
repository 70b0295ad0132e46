// Queue of records for a slow reader, oldest first: 2 MiB in memory, then an unlinked temporary
// file of limited size. For the sender of a subscription. Not thread-safe: the caller locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/engine/held_descriptor.hpp"
#include "runtime/prof/op_record.hpp"

namespace msprof::runtime {

class RecordQueue {
 public:
  // `spill_bytes`: maximum size of the file.
  explicit RecordQueue(std::uint64_t spill_bytes);
  RecordQueue(const RecordQueue&) = delete;
  RecordQueue& operator=(const RecordQueue&) = delete;

  // Returns false if neither memory nor file has room for the record.
  bool push(const OpRecord& record);
  // Returns the oldest records, at most `count`; they stay in the queue until drop().
  std::span<const OpRecord> front(std::size_t count);
  void drop(std::size_t count);

  std::uint64_t size() const;
  // Number of records in the file.
  std::uint64_t spilled() const { return file_count_; }
  // Number of records that could not be read back from the file.
  std::uint64_t unreadable() const { return unreadable_; }

 private:
  bool open_file();
  bool write_tail();
  void read_file();
  bool transfer(bool writing, OpRecord* records, std::size_t count, std::uint64_t slot);

  // Order, oldest first: memory, file, tail. The tail is written to the file next.
  std::vector<OpRecord> memory_;  // a ring buffer
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
  std::vector<OpRecord> tail_;
  HeldDescriptor file_;
  bool has_file_failed_ = false;
  std::uint64_t slots_;  // limit for file and tail together, in records; the file is a ring, too
  std::uint64_t file_begin_ = 0;
  std::uint64_t file_count_ = 0;
  std::uint64_t unreadable_ = 0;
};

}  // namespace msprof::runtime
