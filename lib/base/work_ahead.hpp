// WorkAhead: a second thread that does work before it is asked for. Who asks for work that the
// thread has not begun does it: nobody waits for a thread that sleeps or is busy with something
// else. For readers of files, whose next bytes are known before they are needed.
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
  // A piece of work; when this goes, it has been done or never will be.
  class Job {
   public:
    Job() = default;
    ~Job() { cancel(); }
    Job(Job&&) noexcept = default;
    Job& operator=(Job&& other) noexcept;

    explicit operator bool() const { return piece_ != nullptr; }
    // Returns once it has been done, here if need be, and is empty then. Throws what it threw.
    void get();

   private:
    friend class WorkAhead;
    Job(WorkAhead& ahead, std::shared_ptr<Piece> piece)
        : ahead_(&ahead), piece_(std::move(piece)) {}
    void cancel();

    WorkAhead* ahead_ = nullptr;
    std::shared_ptr<Piece> piece_;
  };

  // Waking a thread costs as much as a small piece: for those it is woken once a few wait.
  enum class Size { small, large };

  WorkAhead() = default;
  // All jobs are gone by then.
  ~WorkAhead();
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  // What `work` uses outlives the job, and is not touched by others while the job lives.
  [[nodiscard]] Job start(std::function<void()> work, Size size = Size::large);

 private:
  enum class Phase { waiting, running, done };
  struct Piece {
    std::function<void()> work;
    Phase phase = Phase::waiting;
    std::exception_ptr error;
  };

  void start_thread();  // leaves it as it is where the system gives none
  void run();
  bool is_worth_waking() const { return has_large_ || waiting_.size() >= kFew; }

  static constexpr std::size_t kFew = 3;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Piece>> waiting_;  // some may have been done by who asked
  bool has_large_ = false;
  bool is_ending_ = false;
  std::thread thread_;  // from the first job on
};

}  // namespace msprof
