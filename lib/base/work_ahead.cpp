#include "base/work_ahead.hpp"

#include <system_error>
#include <utility>

namespace msprof {

WorkAhead::~WorkAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  asked_.notify_one();
  if (thread_.joinable()) thread_.join();
}

WorkAhead::Job& WorkAhead::Job::operator=(Job&& other) noexcept {
  cancel();
  ahead_ = other.ahead_;
  piece_ = std::move(other.piece_);
  return *this;
}

void WorkAhead::Job::get() {
  const std::shared_ptr<Piece> piece = std::move(piece_);
  std::unique_lock lock(ahead_->mutex_);
  if (piece->phase == Phase::waiting) {
    piece->phase = Phase::done;
    lock.unlock();
    piece->work();
    return;
  }
  ahead_->done_.wait(lock, [&] { return piece->phase == Phase::done; });
  if (piece->error) std::rethrow_exception(piece->error);
}

void WorkAhead::Job::cancel() {
  if (piece_ == nullptr) return;
  const std::shared_ptr<Piece> piece = std::move(piece_);
  std::unique_lock lock(ahead_->mutex_);
  if (piece->phase == Phase::waiting) piece->phase = Phase::done;
  ahead_->done_.wait(lock, [&] { return piece->phase == Phase::done; });
}

WorkAhead::Job WorkAhead::start(std::function<void()> work, Size size) {
  auto piece = std::make_shared<Piece>();
  piece->work = std::move(work);
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) start_thread();
    // Without a thread the caller of get() does the work.
    if (!thread_.joinable()) return {*this, std::move(piece)};
    waiting_.push_back(piece);
    has_large_ = has_large_ || size == Size::large;
    wakes = is_worth_waking();
  }
  if (wakes) asked_.notify_one();
  return {*this, std::move(piece)};
}

void WorkAhead::start_thread() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
  }
}

void WorkAhead::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(lock, [this] { return is_ending_ || is_worth_waking(); });
    if (is_ending_) return;
    has_large_ = false;
    while (!waiting_.empty()) {
      const std::shared_ptr<Piece> piece = std::move(waiting_.front());
      waiting_.pop_front();
      if (piece->phase != Phase::waiting) continue;
      piece->phase = Phase::running;
      lock.unlock();
      std::exception_ptr error;
      try {
        piece->work();
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      piece->error = error;
      piece->phase = Phase::done;
      done_.notify_all();
    }
  }
}

}  // namespace msprof
