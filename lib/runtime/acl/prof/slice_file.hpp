// One kind of raw records of a recording, as files <stem>.slice_<n> of at most 2 MiB, written by
// any number of threads without a lock between them. For Recording. Source: cann_host.md 1.2, 1.3;
// cann_device.md 2.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/acl/prof/slice_worker.hpp"

namespace msprof::acl {

// Bytes that the folder of a recording may still take. At the limit the oldest slices that are
// complete make room for newer ones.
class SpaceBudget {
 public:
  explicit SpaceBudget(std::uint64_t limit_bytes) : limit_(limit_bytes) {}
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  // A slice that is complete, and may go.
  struct Complete {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
  };
  void offer(Complete slice);
  bool is_limited() const { return limit_ != 0; }
  // Of one slice.
  std::uint64_t slice_bytes() const;
  // Records of the slices that went.
  std::uint64_t removed_records() const { return removed_.load(std::memory_order_relaxed); }

 private:
  bool take_if_there(std::uint64_t bytes);
  bool remove_oldest();

  const std::uint64_t limit_;  // 0: none
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> removed_{0};
  std::mutex mutex_;  // of complete_; nothing else is locked under it
  std::deque<Complete> complete_;
};

// Where a device's record carries the low 4 bits of its number, by which a reader sees that one is
// missing.
enum class Counter : std::uint8_t { none, bits_6_to_9, bits_4_to_7 };

struct SliceLayout {
  std::uint32_t record_bytes = 0;  // a multiple of 8
  Counter counter = Counter::none;
  bool is_kept = false;  // to the end, whatever the limit
};

// A record's place is taken with one atomic operation; its first 8 bytes, which hold its mark, are
// stored last. So a process that is killed leaves whole records, and zeros where one was under way:
// what is in the mapped page reaches the file without it. Space is allocated before it is mapped: a
// full disk is an error of the allocation, never a SIGBUS.
//
// Where that is not certain (runtime::may_be_mapped) a slice is memory of the process instead. The
// worker writes its records to the file, 64 kB at a time and within a second: a kill takes those of
// the last second along.
//
// A page that is written for the first time costs more than its records. So a worker makes the next
// slice, with its pages, when half of one is full; pages of the first slice come as the file grows,
// so that one with few records stays small. Whoever is faster than the worker does it himself.
class SliceFile {
 public:
  // Without a worker those who append do everything.
  SliceFile(std::string stem, SliceLayout layout, SpaceBudget& budget, SliceWorker* worker,
            bool is_mapped);
  ~SliceFile();
  SliceFile(const SliceFile&) = delete;
  SliceFile& operator=(const SliceFile&) = delete;

  // By any thread. A record that finds no space is counted; one that comes after refuse() is not.
  // Bytes of the record behind the first `used_bytes` are zeros, and not read; 0: all are used.
  void append(const void* record, std::size_t used_bytes = 0);

  // Makes the first slice, so that the first record finds it.
  void prepare_first() { prepare(0); }
  // Does what the worker was asked for, on its thread. Never throws.
  void run(const SliceJob& job);

  // Takes no record from now on. Before the worker is stopped, which is before finish().
  void refuse();
  // Gives every file its true size, and its `.done`. Records under way are waited for, at exit not.
  void finish(bool at_exit);
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  // Why the first record found no space: an errno, 0 for the limit of the recording.
  int error() const { return error_.load(std::memory_order_relaxed); }

 private:
  // Slices that are mapped: as many as have records under way. Beyond 64 a record waits for the
  // slowest.
  static constexpr std::size_t kSlots = 64;
  static constexpr std::uint64_t kFree = UINT64_MAX;
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> number{kFree};
    std::byte* base = nullptr;
    std::uint64_t capacity = 0;  // in records; less than a slice has where the disk had no more
    std::atomic<std::uint64_t> written{0};
    std::uint64_t end_ns = 0;  // set by the last record of a slice
    // Bytes of whole records that the file has, where it is not mapped. Of saving_.
    std::uint64_t saved = 0;
  };
  struct Slice {
    // Allocated; once closed or taken out of memory its size, 0: no file, or not cut.
    std::uint64_t bytes = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };

  std::string path(std::uint64_t slice) const;
  Slot& slot(std::uint64_t slice) { return slots_[slice % kSlots]; }
  // False: there is no space for it.
  bool prepare(std::uint64_t slice);
  bool wait_for_slot(std::uint64_t slice, std::unique_lock<std::mutex>& lock);
  struct Made {
    std::byte* base = nullptr;
    std::uint64_t records = 0;
    int error = 0;  // why there are fewer than a slice has
  };
  bool allocate(std::uint64_t slice, std::unique_lock<std::mutex>& lock);
  void wait_for_worker(std::unique_lock<std::mutex>& lock) const;
  void make_ahead(std::uint64_t slice);
  Made make(const std::string& name, std::uint64_t first_bytes, std::uint64_t least_records);
  void publish(std::uint64_t slice, const Made& made);
  void look_ahead(std::uint64_t slice, std::uint64_t within);
  void fill(std::uint64_t slice, std::uint64_t from, std::uint64_t to);
  void complete(std::uint64_t slice);
  void offer(std::uint64_t slice);
  void retire(std::uint64_t slice);
  void unmap(std::uint64_t slice);
  void save_soon();
  void save_all();
  std::uint64_t save(std::uint64_t slice, std::uint64_t records);
  std::uint64_t save_last(std::uint64_t slice, std::uint64_t records);
  void cut(std::uint64_t slice, std::uint64_t bytes);
  void wait_for_records(std::uint64_t end);
  bool is_written(std::uint64_t slice, std::uint64_t records);
  void close(std::uint64_t slice, bool at_exit);
  void write_done(std::uint64_t slice) const;
  void fail(int error);

  const std::string stem_;
  const SliceLayout layout_;
  const std::uint64_t per_slice_;
  const bool is_mapped_;
  const std::uint64_t step_;            // records, a power of two: how often a thread looks ahead
  const std::uint64_t stepped_slices_;  // it does in so many, the first ones
  SpaceBudget& budget_;
  SliceWorker* const worker_;
  std::array<Slot, kSlots> slots_;
  alignas(64) std::atomic<std::uint64_t> next_{
      0};  // number of the next record; beyond kClosed: refused
  alignas(64) std::atomic<std::uint64_t> lost_{0};
  std::atomic<bool> full_{false};
  std::atomic<bool> is_save_asked_{false};
  std::atomic<int> error_{0};
  std::uint64_t refused_from_ = 0;  // number of records, once refused
  std::mutex saving_;               // of writing to files, and of freeing slots; before mutex_
  std::mutex mutex_;                // of what follows, and of making slices
  std::vector<Slice> slices_;       // all that were made
  std::uint64_t end_ = UINT64_MAX;  // number of records, once finished
};

}  // namespace msprof::acl
