#include "runtime/acl/prof/slice_worker.hpp"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <system_error>

#include "runtime/acl/prof/slice_file.hpp"
#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/clock.hpp"
#include "runtime/engine/undisturbed.hpp"

namespace msprof::acl {

namespace {

using Clock = std::chrono::steady_clock;

// At most kSaveWithin, so that an idle thread sees unsaved files in time.
constexpr std::chrono::seconds kIdle{1};
// Maximum age of records that a kill may lose.
constexpr std::chrono::seconds kSaveWithin{1};
// Waits of 1 ms each when the process exits.
constexpr int kTriesAtExit = 50;

using runtime::sleep_a_millisecond;

}  // namespace

SliceWorker::Answer SliceWorker::with_thread() {
  if (stops()) return Answer::leave_it;
  return runs_ || start() ? Answer::will_do : Answer::do_it;
}

SliceWorker::Answer SliceWorker::ask(const SliceJob& job) try {
  const runtime::Undisturbed undisturbed;
  {
    const std::lock_guard lock(mutex_);
    if (const Answer answer = with_thread(); answer != Answer::will_do) return answer;
    jobs_.push_back(job);
  }
  changed_.notify_one();
  return Answer::will_do;
} catch (const std::exception&) {  // no memory for the job
  return Answer::leave_it;
}

// No notification: an idle thread checks again within a second.
SliceWorker::Answer SliceWorker::ask_to_save(SliceFile* file) try {
  const runtime::Undisturbed undisturbed;
  const std::lock_guard lock(mutex_);
  if (const Answer answer = with_thread(); answer != Answer::will_do) return answer;
  if (unsaved_.empty()) save_at_ = Clock::now() + kSaveWithin;
  unsaved_.push_back(file);
  return Answer::will_do;
} catch (const std::exception&) {
  return Answer::leave_it;
}

bool SliceWorker::is_save_due() const {
  return !unsaved_.empty() && Clock::now() >= save_at_;
}

bool SliceWorker::start() {
  // Joins a previous thread, which ended because it was idle.
  if (thread_.joinable()) thread_.join();
  try {
    const runtime::BlockedSignals inherited;
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    return false;
  }
  pthread_setname_np(thread_.native_handle(), "msprof-slices");
  runs_ = true;
  return true;
}

void SliceWorker::work() {
  std::unique_lock lock(mutex_);
  while (!stops()) {
    SliceJob job;
    if (is_save_due()) {
      job = {unsaved_.back(), SliceJob::Kind::save};
      unsaved_.pop_back();
    } else if (!jobs_.empty()) {
      job = jobs_.front();
      jobs_.pop_front();
    } else {
      const auto until = unsaved_.empty() ? Clock::now() + kIdle : save_at_;
      const bool is_woken =
          changed_.wait_until(lock, until, [this] { return stops() || !jobs_.empty(); });
      if (!is_woken && unsaved_.empty()) break;
      continue;
    }
    is_busy_.store(true, std::memory_order_relaxed);
    lock.unlock();
    job.file->run(job);
    lock.lock();
    is_busy_.store(false, std::memory_order_relaxed);
  }
  runs_ = false;
}

bool SliceWorker::stop(bool at_exit) {
  std::unique_lock lock(mutex_, std::defer_lock);
  // At exit, a stopped thread may hold this lock forever.
  for (int tries = 0; !lock.try_lock(); ++tries) {
    if (at_exit && tries == kTriesAtExit) return false;
    sleep_a_millisecond();
  }
  if (is_abandoned_) return !runs_;
  stops_.store(true, std::memory_order_relaxed);
  jobs_.clear();
  unsaved_.clear();
  changed_.notify_all();
  for (int tries = 0; at_exit && runs_ && tries < kTriesAtExit; ++tries) {
    lock.unlock();
    sleep_a_millisecond();
    lock.lock();
  }
  if (at_exit && runs_) {
    is_abandoned_ = true;
    thread_.detach();
    return false;
  }
  std::thread ended;
  ended.swap(thread_);
  lock.unlock();
  if (ended.joinable()) ended.join();
  return true;
}

}  // namespace msprof::acl
