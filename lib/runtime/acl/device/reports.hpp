// Callbacks that streams pass to threads of the application (aclrtSubscribeReport and related
// functions).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/acl/device/latch.hpp"

namespace msprof::acl {

class Stream;

// Pending callbacks of one thread.
class Inbox {
 public:
  struct Report {
    std::function<void()> run;
    std::shared_ptr<Latch> done;
  };

  // The latch opens when the report has run or is dropped.
  void post(Report report);
  // Runs one report. Returns `nothing` if the deadline passes first, `closed` if no more reports
  // will arrive.
  enum class Seen { ran, nothing, closed };
  Seen process_one(const WaitDeadline& deadline);
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Report> reports_;
  bool is_closed_ = false;
};

// Maps streams to the threads that run their callbacks. Thread ids are those of pthread_self().
class Reports {
 public:
  // Returns false if the stream already has a thread.
  bool subscribe(std::uint64_t thread, const Stream* stream);
  // Returns false if this thread does not serve the stream.
  bool unsubscribe(std::uint64_t thread, const Stream* stream);
  void forget_stream(const Stream* stream);

  // Return null if no thread serves the stream, or if the thread serves no stream.
  std::shared_ptr<Inbox> find_stream_inbox(const Stream* stream) const;
  std::shared_ptr<Inbox> find_thread_inbox(std::uint64_t thread) const;

 private:
  struct Subscription {
    std::uint64_t thread;
    std::shared_ptr<Inbox> inbox;
  };

  void erase_locked(std::map<const Stream*, Subscription>::iterator subscription);

  mutable std::mutex mutex_;
  std::map<const Stream*, Subscription> subscriptions_;
};

}  // namespace msprof::acl
