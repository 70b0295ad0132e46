// One kind of raw records of a recording, stored in files <stem>.slice_<n> of at most 2 MiB and
// written by any number of threads without a lock. For Recording. Source: cann_host.md 1.2, 1.3;
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

// Storage limit of a recording's folder. At the limit, the oldest complete slices are removed to
// make room for newer ones.
class SpaceBudget {
 public:
  explicit SpaceBudget(std::uint64_t limit_bytes) : limit_(limit_bytes) {}
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  // A complete slice, which may be removed.
  struct Complete {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
  };
  void offer(Complete slice);
  bool is_limited() const { return limit_ != 0; }
  std::uint64_t slice_bytes() const;
  std::uint64_t removed_records() const { return removed_.load(std::memory_order_relaxed); }

 private:
  bool take_if_there(std::uint64_t bytes);
  bool remove_oldest();

  const std::uint64_t limit_;  // 0: unlimited
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> removed_{0};
  std::mutex mutex_;  // guards complete_; innermost lock
  std::deque<Complete> complete_;
};

// Position of the low 4 bits of the record number in a device record. Readers use it to detect
// missing records.
enum class NumberBits : std::uint8_t { none, bits_6_to_9, bits_4_to_7 };

struct SliceLayout {
  std::uint32_t record_bytes = 0;  // a multiple of 8
  NumberBits counter = NumberBits::none;
  bool is_kept = false;  // never removed, whatever the limit
};

// A thread reserves space for a record with one atomic operation; the first 8 bytes, which contain
// its magic, are stored last. A process that is killed therefore leaves whole records, and zeros
// for one that was being written: the kernel writes mapped pages to the file without the process.
// Space is allocated before it is mapped, so a full disk is an allocation error and never a SIGBUS.
//
// If this is not guaranteed (runtime::may_be_mapped), a slice is memory of the process. The worker
// writes its records to the file, 64 kB at a time and within a second: a kill loses the records of
// the last second.
//
// The first write to a page costs more than its records. So the worker creates the next slice,
// including its pages, when half of the current one is full. Pages of the first slice are added as
// the file grows, so that a file with few records stays small. A thread that is faster than the
// worker does this work itself.
class SliceFile {
 public:
  // Without a worker, the appending threads do all the work.
  SliceFile(std::string stem, SliceLayout layout, SpaceBudget& budget, SliceWorker* worker,
            bool is_mapped);
  ~SliceFile();
  SliceFile(const SliceFile&) = delete;
  SliceFile& operator=(const SliceFile&) = delete;

  // Thread-safe. A record is counted as lost if there is no space, but not after refuse(). Bytes
  // after the first `used_bytes` are written as zeros and not read; 0: all bytes are used.
  void append(const void* record, std::size_t used_bytes = 0);

  // Creates the first slice in advance, for the first record.
  void prepare_first() { prepare(0); }
  // Runs a job on the worker's thread. Never throws.
  void run(const SliceJob& job);

  // Rejects all further records. Call before stopping the worker, which must precede finish().
  void refuse();
  // Truncates every file to its records and writes its `.done`. Waits for records that are being
  // written, except at exit.
  void finish(bool at_exit);
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  // Reason for the first lost record: an errno, or 0 for the recording's storage limit.
  int error() const { return error_.load(std::memory_order_relaxed); }

 private:
  // Maximum number of mapped slices. A slice is mapped while records in it are being written;
  // beyond 64, a record waits for the slowest.
  static constexpr std::size_t kSlots = 64;
  static constexpr std::uint64_t kFree = UINT64_MAX;
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> number{kFree};
    std::byte* base = nullptr;
    std::uint64_t capacity = 0;  // in records; less than a whole slice if the disk was full
    std::atomic<std::uint64_t> written{0};
    std::uint64_t end_ns = 0;  // set when the last record of the slice is written
    // Bytes of whole records in the file, if it is not mapped. Guarded by saving_.
    std::uint64_t saved = 0;
  };
  struct Slice {
    // Allocated size, then the final size after closing or removal from memory. 0 if there is no
    // file, or if it could not be truncated.
    std::uint64_t bytes = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };

  std::string path(std::uint64_t slice) const;
  Slot& slot(std::uint64_t slice) { return slots_[slice % kSlots]; }
  // Returns false if there is no space.
  bool prepare(std::uint64_t slice);
  bool wait_for_slot(std::uint64_t slice, std::unique_lock<std::mutex>& lock);
  struct Made {
    std::byte* base = nullptr;
    std::uint64_t records = 0;
    int error = 0;  // reason if the slice has fewer records than a whole one
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
  const std::uint64_t step_;            // look_ahead() is called every step_ records; a power of
                                        // two
  const std::uint64_t stepped_slices_;  // number of first slices to which step_ applies
  SpaceBudget& budget_;
  SliceWorker* const worker_;
  std::array<Slot, kSlots> slots_;
  alignas(64) std::atomic<std::uint64_t> next_{
      0};  // number of the next record; kClosed or more: refused
  alignas(64) std::atomic<std::uint64_t> lost_{0};
  std::atomic<bool> is_full_{false};
  std::atomic<bool> is_save_asked_{false};
  std::atomic<int> error_{0};
  std::uint64_t refused_from_ = 0;  // number of records at refuse()
  std::mutex saving_;               // guards writing to files and freeing slots; locked before
                                    // mutex_
  std::mutex mutex_;                // guards the members below, and creating slices
  std::vector<Slice> slices_;       // all slices created so far
  std::uint64_t end_ = UINT64_MAX;  // number of records after finish()
};

}  // namespace msprof::acl
