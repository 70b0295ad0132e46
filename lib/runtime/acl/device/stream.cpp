#include "runtime/acl/device/stream.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/acl/device/device.hpp"
#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

// Maximum number of tasks queued in a stream; a thread that launches more waits for the device.
constexpr std::size_t kQueueLimit = 1024;

thread_local const Stream* stream_of_this_thread = nullptr;

int run_task(Task& task, Stream& stream) {
  try {
    return task.run(stream);
  } catch (const std::bad_alloc&) {
    runtime::say("a task of a stream: out of memory");
    return ACL_ERROR_BAD_ALLOC;
  } catch (const std::exception& error) {
    runtime::say(std::string("a task of a stream: ") + error.what());
    return ACL_ERROR_RT_INTERNAL_ERROR;
  } catch (const abi::__forced_unwind&) {
    throw;  // pthread_exit() or cancellation in a callback
  } catch (...) {
    runtime::say("a task of a stream: an exception of the application");
    return ACL_ERROR_RT_INTERNAL_ERROR;
  }
}

// Milliseconds within which a stream notices an open latch, unless the machine is extremely
// overloaded.
constexpr int kSeenWaiting = 20;

}  // namespace

Stream::Stream(std::shared_ptr<Device> device, const void* context)
    : device_(std::move(device)),
      id_(device_->take_stream_id()),
      context_(context),
      first_sequence_(device_->stream_sequence(id_)),
      sequence_(first_sequence_) {}

Stream::~Stream() {
  close(Closing::drop);
  if (sequence_ != first_sequence_) record_stream_destroyed(device_id(), id_);
  device_->give_back_stream_id(id_, sequence_);
}

std::uint16_t Stream::device_id() const {
  return device_->id();
}

Stream::Launching::Launching(Stream& stream)
    : stream_(stream), order_([&stream]() -> std::mutex& {
        // Waits before locking the launch order, so that a thread waiting for space blocks no
        // other. A callback that launches on its own stream must not wait for itself.
        if (!stream.is_on_worker()) {
          std::unique_lock lock(stream.mutex_);
          stream.space_.wait(
              lock, [&] { return stream.queue_.size() < kQueueLimit || stream.is_closed_; });
        }
        return stream.launch_order_;
      }()) {}

TaskIds Stream::Launching::reserve(std::uint32_t tasks) {
  const TaskIds ids = {stream_.device_id(), stream_.id_, stream_.sequence_};
  stream_.sequence_ += tasks;
  return ids;
}

bool Stream::Launching::push(std::unique_ptr<Task> task) {
  {
    const std::lock_guard lock(stream_.mutex_);
    if (!stream_.is_closed_) {
      if (!stream_.worker_.joinable()) stream_.start_worker();
      stream_.queue_.push_back(std::move(task));
      ++stream_.launched_;
    }
  }
  // A rejected task is destroyed here, where no lock is held that its destructor may need.
  if (task) return false;
  stream_.work_changed_.notify_one();
  return true;
}

void Stream::start_worker() {
  // Does not block the signals that application code in a stream may raise, so that their handlers
  // run in this thread.
  const runtime::BlockedSignals blocked(
      {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS});
  worker_ = std::thread([this] { work(); });
  const std::string name =
      "acl-" + std::to_string(device_id()) + "-" + std::to_string(id_);  // at most 15 characters
  pthread_setname_np(worker_.native_handle(), name.c_str());
}

void Stream::work() {
  stream_of_this_thread = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    work_changed_.wait(lock, [this] { return !queue_.empty() || is_closed_; });
    if (queue_.empty()) return;
    std::unique_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    if (queue_.size() + 1 == kQueueLimit) space_.notify_all();
    const bool runs = !is_aborting_ && failure_ == 0;
    lock.unlock();
    const int code = runs ? run_task(*task, *this) : 0;
    task.reset();
    lock.lock();
    ++finished_;
    if (code != 0 && error_ == 0) error_ = code;
    if (code != 0 && stops_on_failure_) failure_ = code;
    finished_changed_.notify_all();
  }
}

int Stream::synchronize(const WaitDeadline& deadline) {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = launched_;
  const auto done = [&] { return finished_ >= target; };
  if (!deadline) {
    finished_changed_.wait(lock, done);
  } else if (!finished_changed_.wait_until(lock, *deadline, done)) {
    return ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
  }
  const int error = std::exchange(error_, 0);
  return failure_ != 0 ? failure_ : error;
}

void Stream::stop_on_failure(bool stops) {
  const std::lock_guard lock(mutex_);
  stops_on_failure_ = stops;
  if (!stops) failure_ = 0;
}

void Stream::abort() {
  std::unique_lock lock(mutex_);
  is_aborting_ = true;
  gives_up_ = true;
  const std::shared_ptr<Latch> awaited = awaited_;
  lock.unlock();
  if (awaited) awaited->look_again();
  lock.lock();
  finished_changed_.wait(lock, [this] { return finished_ == launched_; });
  is_aborting_ = false;
  if (!is_closed_) gives_up_ = false;
  error_ = 0;
  failure_ = 0;
}

Stream::State Stream::state() const {
  const std::lock_guard lock(mutex_);
  if (finished_ == launched_) return State::idle;
  return awaited_ ? State::waiting : State::busy;
}

std::uint64_t Stream::launched() const {
  const std::lock_guard lock(mutex_);
  return launched_;
}

Stream::State Stream::launch_state(std::uint64_t launched) const {
  const std::lock_guard lock(mutex_);
  if (finished_ >= launched) return State::idle;
  return awaited_ ? State::waiting : State::busy;
}

bool Stream::is_on_worker() const {
  return stream_of_this_thread == this;
}

bool Stream::is_on_any_worker() {
  return stream_of_this_thread != nullptr;
}

Latch::End Stream::wait_for(const std::shared_ptr<Latch>& latch, const WaitDeadline& deadline) {
  {
    const std::lock_guard lock(mutex_);
    awaited_ = latch;
  }
  const Latch::End end = latch->wait(deadline, &gives_up_);
  const std::lock_guard lock(mutex_);
  awaited_.reset();
  return end;
}

void Stream::close(Closing how) {
  std::deque<std::unique_ptr<Task>> dropped;
  std::shared_ptr<Latch> awaited;
  std::thread worker;
  if (how != Closing::finish) gives_up_ = true;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    if (how == Closing::drop) {
      dropped.swap(queue_);
      finished_ += dropped.size();
    }
    awaited = awaited_;
    worker.swap(worker_);
  }
  work_changed_.notify_all();
  space_.notify_all();
  finished_changed_.notify_all();
  if (awaited && how != Closing::finish) awaited->look_again();
  // Destroying a task may open a latch for which the running task waits.
  dropped.clear();
  if (worker.joinable()) worker.join();
}

void settle(const std::vector<std::shared_ptr<Stream>>& streams) {
  const auto state_is = [](Stream::State state) {
    return [state](const std::shared_ptr<Stream>& stream) { return stream->state() == state; };
  };
  for (int seen = 0; seen < kSeenWaiting; ++seen) {
    if (std::all_of(streams.begin(), streams.end(), state_is(Stream::State::idle))) return;
    if (std::any_of(streams.begin(), streams.end(), state_is(Stream::State::busy))) seen = 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void settle_launched(const std::vector<std::shared_ptr<Stream>>& streams,
                     std::chrono::steady_clock::time_point deadline) {
  std::vector<std::uint64_t> launched;
  launched.reserve(streams.size());
  for (const auto& stream : streams) launched.push_back(stream->launched());
  for (int seen = 0; seen < kSeenWaiting; ++seen) {
    bool all_idle = true;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const Stream::State state = streams[i]->launch_state(launched[i]);
      if (state == Stream::State::busy) seen = 0;
      all_idle = all_idle && state == Stream::State::idle;
    }
    if (all_idle || std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace msprof::acl
