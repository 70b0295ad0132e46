// HostBatches: which turn of the 16-bit task ids of a stream a launched task belongs to. Tasks go
// through in order of time; one is held back only while a flip may still move it into the next
// turn. For the host association.
// Source: cann_host.md 1.8 task_track; cann_corrections.md C11.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "import/cann/join/host_records.hpp"

namespace msprof {

class HostBatches {
 public:
  // Before the first push(): every flip, and every task's time.
  void add_flip(std::uint16_t device, std::uint16_t stream, std::uint64_t time,
                std::uint16_t task_number, bool is_destroy);
  void see_task(std::uint16_t device, std::uint16_t stream, std::uint64_t time);
  void prepare();

  // Tasks in order of time; they come out in the same order.
  void push(const HostTrack& track);
  void finish();  // no task follows
  bool has_front() const { return first_ < first_undecided_; }
  const HostTrack& front() const { return tracks_.front(); }
  void pop();

 private:
  struct Flip {
    std::uint64_t time = 0;
    std::uint32_t stream = 0;
    std::uint16_t task_number = 0;
    std::uint16_t highest_ahead = 0;  // of the task numbers of this and later flips of the stream
    bool is_destroy = false;
  };
  struct Stream {
    std::uint64_t last_time = 0;
    std::uint16_t batch = 0;
    std::uint16_t highest_ahead = 0;  // tasks of this number and above stay where they are
    std::deque<std::uint64_t> held;   // places of the tasks that may still be moved
  };
  static std::uint32_t key(std::uint16_t device, std::uint16_t stream) {
    return std::uint32_t{device} << 16 | stream;
  }
  void apply(const Flip& flip, std::uint16_t highest_behind);
  void release(Stream& stream);
  void find_undecided();

  std::vector<Flip> flips_;  // by time
  std::size_t next_flip_ = 0;
  std::unordered_map<std::uint32_t, Stream> streams_;
  // Tasks that have not come out, and which of them wait; places count from the first task of all.
  std::deque<HostTrack> tracks_;
  std::deque<bool> waits_;
  std::uint64_t first_ = 0;
  std::uint64_t first_undecided_ = 0;
};

}  // namespace msprof
