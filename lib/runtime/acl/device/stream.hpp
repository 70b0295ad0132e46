// A stream: tasks in the order in which they were launched, on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/acl/device/latch.hpp"
#include "runtime/acl/device/task.hpp"
#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

class Device;

// How a stream ends.
enum class Closing {
  finish,  // everything launched is run first, however long its events need
  drain,   // the same, but nothing waits for an event or a callback any more
  drop     // the task under way ends, those after it are not run
};

class Stream {
 public:
  // Takes a number of `device`; `context` is the handle of the context it belongs to, null for the
  // stream of a model. Throws Failure where the device has no number left.
  Stream(std::shared_ptr<Device> device, const void* context);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::uint16_t device_id() const;
  std::uint16_t id() const { return id_; }
  const void* context() const { return context_; }

  // A launch: keeps the numbers of tasks in the order of the queue. While one lives, no other
  // thread launches on the stream. Waits first until the queue has space.
  class Launching {
   public:
    explicit Launching(Stream& stream);

    // Numbers for `tasks` tasks one after the other; those of the first.
    TaskIds reserve(std::uint32_t tasks);
    // Queues the task. False, with the task destroyed, once the stream is closed.
    bool push(std::unique_ptr<Task> task);

   private:
    Stream& stream_;
    const std::lock_guard<std::mutex> order_;
  };

  // Waits until everything that was launched before has run. Returns and forgets the first error of
  // a task; ACL_ERROR_RT_STREAM_SYNC_TIMEOUT when the deadline comes first.
  int synchronize(const Deadline& deadline);
  enum class State { idle, busy, waiting };  // waiting: for an event or a callback
  State state() const;
  // Tasks that were launched by now, and what the stream does about those.
  std::uint64_t launched() const;
  State state_of(std::uint64_t launched) const;
  // True on the thread that runs the tasks; the other on that of any stream.
  bool on_worker() const;
  static bool on_any_worker();

  // For tasks: waits for the latch, and gives up when the stream is closed without waiting.
  Latch::End wait_for(const std::shared_ptr<Latch>& latch, const Deadline& deadline);

  // Whether tasks after one that failed are dropped; its error then stays the stream's.
  void stop_on_failure(bool stops);
  // Drops what was launched and has not begun, ends waits, and returns when the task under way has
  // ended. Errors are forgotten.
  void abort();
  void close(Closing how);

  std::uint32_t priority = 0;
  std::uint32_t flags = 0;

 private:
  void start_worker();
  void work();

  const std::shared_ptr<Device> device_;
  const std::uint16_t id_;
  const void* const context_;
  const std::uint32_t first_sequence_;
  std::mutex launch_order_;
  std::uint32_t sequence_;  // the next task's; guarded by launch_order_

  mutable std::mutex mutex_;
  std::condition_variable work_changed_, space_, finished_changed_;
  std::deque<std::unique_ptr<Task>> queue_;
  std::uint64_t launched_ = 0, finished_ = 0;
  int error_ = 0;
  int failure_ = 0;  // the error that stopped the stream
  bool stops_on_failure_ = false;
  bool aborting_ = false;
  bool closed_ = false;
  std::shared_ptr<Latch> awaited_;
  std::thread worker_;
  std::atomic<bool> gives_up_{false};
};

// Waits until the streams are idle, or until those that are not wait for events or callbacks that
// nothing on them can bring about.
void settle(const std::vector<std::shared_ptr<Stream>>& streams);
// The same for what was launched before the call, and not beyond the deadline.
void settle_launched(const std::vector<std::shared_ptr<Stream>>& streams,
                     std::chrono::steady_clock::time_point deadline);

}  // namespace msprof::acl
