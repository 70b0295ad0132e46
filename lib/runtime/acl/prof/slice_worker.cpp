#include "runtime/acl/prof/slice_worker.hpp"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <system_error>

#include "runtime/acl/prof/slice_file.hpp"
#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/cancellation.hpp"
#include "runtime/engine/clock.hpp"

namespace msprof::acl {

namespace {

constexpr std::chrono::seconds kIdle{1};
// Milliseconds that the end of a process waits.
constexpr int kTriesAtExit = 50;

using runtime::sleep_a_millisecond;

}  // namespace

SliceWorker::Answer SliceWorker::ask(const SliceJob& job) try {
  const runtime::CancellationDisabled no_cancellation;
  {
    const std::lock_guard lock(mutex_);
    if (stops()) return Answer::leave_it;
    if (!runs_ && !start()) return Answer::do_it;
    jobs_.push_back(job);
  }
  changed_.notify_one();
  return Answer::will_do;
} catch (const std::exception&) {  // no memory for the job
  return Answer::leave_it;
}

bool SliceWorker::start() {
  // One that had nothing to do has ended.
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
    if (jobs_.empty()) {
      const bool is_woken =
          changed_.wait_for(lock, kIdle, [this] { return stops() || !jobs_.empty(); });
      if (!is_woken) break;
      continue;
    }
    const SliceJob job = jobs_.front();
    jobs_.pop_front();
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
  // At exit another thread may have stopped in here.
  for (int tries = 0; !lock.try_lock(); ++tries) {
    if (at_exit && tries == kTriesAtExit) return false;
    sleep_a_millisecond();
  }
  if (is_abandoned_) return !runs_;
  stops_.store(true, std::memory_order_relaxed);
  jobs_.clear();
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
