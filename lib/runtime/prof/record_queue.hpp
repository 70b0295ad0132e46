// Records that wait for a slow reader, oldest first: 2 MiB in memory, then in an unlinked temporary
// file of limited size. For the sender of a subscription; its lock is the caller's.
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
  // `spill_bytes`: most bytes in the file.
  explicit RecordQueue(std::uint64_t spill_bytes);
  RecordQueue(const RecordQueue&) = delete;
  RecordQueue& operator=(const RecordQueue&) = delete;

  // False where neither memory nor file takes the record.
  bool push(const OpRecord& record);
  // The oldest records, at most `count`; they stay until drop().
  std::span<const OpRecord> front(std::size_t count);
  void drop(std::size_t count);

  std::uint64_t size() const;
  // Records that the file holds.
  std::uint64_t spilled() const { return file_count_; }
  // Records that the file did not give back.
  std::uint64_t unreadable() const { return unreadable_; }

 private:
  bool open_file();
  bool write_tail();
  void read_file();
  bool transfer(bool writing, OpRecord* records, std::size_t count, std::uint64_t slot);

  // By age: memory, file, tail (what the file gets next).
  std::vector<OpRecord> memory_;  // a ring
  std::size_t begin_ = 0;
  std::size_t count_ = 0;
  std::vector<OpRecord> tail_;
  HeldDescriptor file_;
  bool file_failed_ = false;
  std::uint64_t slots_;  // records that file and tail may have; the file is a ring, too
  std::uint64_t file_begin_ = 0;
  std::uint64_t file_count_ = 0;
  std::uint64_t unreadable_ = 0;
};

}  // namespace msprof::runtime
