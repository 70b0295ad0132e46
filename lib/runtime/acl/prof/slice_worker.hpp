// A thread of a recording that does slow work for its files, so that recording threads do not wait:
// it creates the next slice, loads its pages, writes the records of unmapped files, and removes
// full slices from memory. For SliceFile.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace msprof::acl {

class SliceFile;

struct SliceJob {
  enum class Kind : std::uint8_t { make, fill, save, unmap };
  SliceFile* file = nullptr;
  Kind kind = Kind::make;
  std::uint64_t slice = 0;  // not used by save, which handles all slices
  std::uint64_t from = 0;   // for fill: byte range in the slice
  std::uint64_t to = 0;
};

// The thread starts with the first job and ends when it has been idle for a while, so that it does
// not keep a process alive whose other threads have ended. All signals are blocked in it.
class SliceWorker {
 public:
  enum class Answer : std::uint8_t {
    will_do,
    do_it,    // there is no thread: the caller must do the job
    leave_it  // the recording ends, and the last job may still be running
  };

  SliceWorker() = default;
  ~SliceWorker() { stop(false); }
  SliceWorker(const SliceWorker&) = delete;
  SliceWorker& operator=(const SliceWorker&) = delete;

  // Queues a job. Thread-safe; holds a lock briefly, a few times per slice. Never throws.
  Answer ask(const SliceJob& job);
  // Queues a job of kind save, which runs within a second.
  Answer ask_to_save(SliceFile* file);
  // Drops jobs that have not started. Returns false if a job is still running, which can happen
  // only at exit, when the wait is short; the memory it uses must then never be freed.
  bool stop(bool at_exit);
  bool stops() const { return stops_.load(std::memory_order_relaxed); }
  // True while a job is running. The job may hold space that it will not use.
  bool is_busy() const { return is_busy_.load(std::memory_order_relaxed); }

 private:
  void work();
  bool start();
  // Starts the thread if necessary. Returns will_do, or why there is no thread.
  Answer with_thread();
  bool is_save_due() const;

  std::atomic<bool> stops_{false};
  std::atomic<bool> is_busy_{false};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<SliceJob> jobs_;
  std::vector<SliceFile*> unsaved_;
  std::chrono::steady_clock::time_point save_at_;  // valid if unsaved_ is not empty
  std::thread thread_;
  bool runs_ = false;
  bool is_abandoned_ = false;
};

}  // namespace msprof::acl
