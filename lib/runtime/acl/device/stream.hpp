// A stream: runs tasks in launch order on its own thread.
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

enum class Closing {
  finish,  // runs all launched tasks, including waits for events
  drain,   // runs all launched tasks, but without waiting for events or callbacks
  drop     // finishes the running task and drops the others
};

class Stream {
 public:
  // Reserves a stream id of `device`. `context` is the handle of its context, or null for the
  // stream of a model. Throws Failure if the device has no free id.
  Stream(std::shared_ptr<Device> device, const void* context);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::uint16_t device_id() const;
  std::uint16_t id() const { return id_; }
  const void* context() const { return context_; }

  // A launch: assigns task ids in queue order. During its lifetime no other thread can launch on
  // the stream. The constructor waits until the queue has space.
  class Launching {
   public:
    explicit Launching(Stream& stream);

    // Reserves ids for `tasks` consecutive tasks; returns the ids of the first.
    TaskIds reserve(std::uint32_t tasks);
    // Queues the task. If the stream is closed, destroys the task and returns false.
    bool push(std::unique_ptr<Task> task);

   private:
    Stream& stream_;
    const std::lock_guard<std::mutex> order_;
  };

  // Waits until all tasks launched before the call have run. Returns and clears the first error of
  // a task; ACL_ERROR_RT_STREAM_SYNC_TIMEOUT if the deadline passes first.
  int synchronize(const WaitDeadline& deadline);
  enum class State { idle, busy, waiting };  // waiting: for an event or a callback
  State state() const;
  // Number of tasks launched so far. launch_state(): the state if only the first `launched` tasks
  // count.
  std::uint64_t launched() const;
  State launch_state(std::uint64_t launched) const;
  // True on the thread that runs this stream's tasks; is_on_any_worker(): on the thread of any
  // stream.
  bool is_on_worker() const;
  static bool is_on_any_worker();

  // For tasks: waits for the latch. Stops waiting if the stream is closed without waiting.
  Latch::End wait_for(const std::shared_ptr<Latch>& latch, const WaitDeadline& deadline);

  // Sets whether tasks after a failed one are dropped. The stream then keeps the error.
  void stop_on_failure(bool stops);
  // Drops all tasks that have not started, ends waits, and returns when the running task has ended.
  // Clears errors.
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
  std::uint32_t sequence_;  // sequence number of the next task; guarded by launch_order_

  mutable std::mutex mutex_;
  std::condition_variable work_changed_, space_, finished_changed_;
  std::deque<std::unique_ptr<Task>> queue_;
  std::uint64_t launched_ = 0, finished_ = 0;
  int error_ = 0;
  int failure_ = 0;  // the error that stopped the stream
  bool stops_on_failure_ = false;
  bool is_aborting_ = false;
  bool is_closed_ = false;
  std::shared_ptr<Latch> awaited_;
  std::thread worker_;
  std::atomic<bool> gives_up_{false};
};

// Waits until every stream is idle or waits for an event or callback that no task on these streams
// can trigger.
void settle(const std::vector<std::shared_ptr<Stream>>& streams);
// The same for tasks launched before the call, but at most until the deadline.
void settle_launched(const std::vector<std::shared_ptr<Stream>>& streams,
                     std::chrono::steady_clock::time_point deadline);

}  // namespace msprof::acl
