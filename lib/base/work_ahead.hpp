// WorkAhead: runs jobs on a second thread before their results are needed. If the thread has not
// started a job when its result is needed, the caller runs it, so that no caller waits for a
// sleeping or busy thread. For file readers, which know the next bytes in advance.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace msprof {

class WorkAhead {
  struct Piece;

 public:
  // One job. The destructor waits for a running job and cancels a waiting one.
  class Job {
   public:
    Job() = default;
    ~Job() { cancel(); }
    Job(Job&&) noexcept = default;
    Job& operator=(Job&& other) noexcept;

    explicit operator bool() const { return piece_ != nullptr; }
    // Waits for the job, or runs it here if it has not started. Afterwards the Job is empty.
    // Rethrows its exception.
    void get();

   private:
    friend class WorkAhead;
    Job(WorkAhead& ahead, std::shared_ptr<Piece> piece)
        : ahead_(&ahead), piece_(std::move(piece)) {}
    void cancel();

    WorkAhead* ahead_ = nullptr;
    std::shared_ptr<Piece> piece_;
  };

  // Waking the thread costs as much as a small job, so it is woken only once several wait.
  enum class Size { small, large };

  WorkAhead() = default;
  // All jobs must have been destroyed.
  ~WorkAhead();
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  // Data used by `work` must outlive the job and must not be accessed by others while the job
  // exists.
  [[nodiscard]] Job start(std::function<void()> work, Size size = Size::large);

 private:
  enum class Phase { waiting, running, done };
  struct Piece {
    std::function<void()> work;
    Phase phase = Phase::waiting;
    std::exception_ptr error;
  };

  void start_thread();  // leaves thread_ unset if the system provides no thread
  void run();
  bool is_worth_waking() const { return has_large_ || waiting_.size() >= kFew; }

  static constexpr std::size_t kFew = 3;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Piece>> waiting_;  // includes jobs that their callers may have done
                                                // already
  bool has_large_ = false;
  bool is_ending_ = false;
  std::thread thread_;  // started with the first job
};

}  // namespace msprof
