#include "store/insert_queue.hpp"

#include <utility>

namespace msprof {

InsertQueue::InsertQueue(std::function<void(const InsertBatch&)> insert)
    : insert_(std::move(insert)), thread_([this] { work(); }) {}

InsertQueue::~InsertQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  filled_.notify_one();
  thread_.join();
}

void InsertQueue::rethrow() {
  if (error_) std::rethrow_exception(error_);
}

void InsertQueue::push(InsertBatch batch) {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return waiting_.size() < kMaxWaiting || error_; });
  rethrow();
  waiting_.push_back(std::move(batch));
  const bool wakes = waiting_.size() == kFew;
  lock.unlock();
  if (wakes) filled_.notify_one();
}

void InsertQueue::drain() {
  std::unique_lock lock(mutex_);
  wants_all_ = true;
  filled_.notify_one();
  emptied_.wait(lock, [this] { return (waiting_.empty() && !is_busy_) || error_; });
  wants_all_ = false;
  rethrow();
}

std::vector<std::int64_t> InsertQueue::cells() {
  const std::lock_guard lock(mutex_);
  if (used_cells_.empty()) return {};
  std::vector<std::int64_t> cells = std::move(used_cells_.back());
  used_cells_.pop_back();
  return cells;
}

// Sleeps until enough batches wait, then inserts all of them.
void InsertQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    filled_.wait(lock, [this] {
      return is_ending_ || waiting_.size() >= kFew || (wants_all_ && !waiting_.empty());
    });
    while (!is_ending_ && !waiting_.empty()) insert_first(lock);
    if (is_ending_) return;
  }
}

void InsertQueue::insert_first(std::unique_lock<std::mutex>& lock) {
  InsertBatch batch = std::move(waiting_.front());
  waiting_.pop_front();
  is_busy_ = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    insert_(batch);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  is_busy_ = false;
  used_cells_.push_back(std::move(batch.cells));
  if (error) {
    error_ = error;
    waiting_.clear();
  }
  emptied_.notify_all();
}

}  // namespace msprof
