// A thread of a recording that does for its files what would hold up those who record: it makes the
// next slice, puts pages into it, writes the records of files that are not mapped, and takes full
// slices out of memory. For SliceFile.
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
  std::uint64_t slice = 0;  // of save: all of them
  std::uint64_t from = 0;   // of fill: bytes of the slice
  std::uint64_t to = 0;
};

// The thread comes with the first job and goes when there was none for a while, so that it keeps no
// process alive whose other threads have ended. It takes no signal.
class SliceWorker {
 public:
  enum class Answer : std::uint8_t {
    will_do,
    do_it,    // there is no thread to do it
    leave_it  // the recording ends, and the last job may be under way
  };

  SliceWorker() = default;
  ~SliceWorker() { stop(false); }
  SliceWorker(const SliceWorker&) = delete;
  SliceWorker& operator=(const SliceWorker&) = delete;

  // By any thread; takes a lock for a moment, a few times a slice. Never throws.
  Answer ask(const SliceJob& job);
  // The same for a job of the kind save, within a second.
  Answer ask_to_save(SliceFile* file);
  // Jobs that have not begun are dropped. False where one is under way still, which is waited for
  // at exit for a moment only: what it uses must then never be freed.
  bool stop(bool at_exit);
  bool stops() const { return stops_.load(std::memory_order_relaxed); }
  // A job is under way, which may hold space that is not used in the end.
  bool is_busy() const { return is_busy_.load(std::memory_order_relaxed); }

 private:
  void work();
  bool start();
  // Whether there is a thread, or why there is none.
  Answer with_thread();
  bool is_save_due() const;

  std::atomic<bool> stops_{false};
  std::atomic<bool> is_busy_{false};
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<SliceJob> jobs_;
  std::vector<SliceFile*> unsaved_;
  std::chrono::steady_clock::time_point save_at_;  // where something is unsaved
  std::thread thread_;
  bool runs_ = false;
  bool is_abandoned_ = false;
};

}  // namespace msprof::acl
