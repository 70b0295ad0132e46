// Callbacks that streams hand to threads of the application (aclrtSubscribeReport and its family).
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

// What one thread has still to run.
class Inbox {
 public:
  struct Report {
    std::function<void()> run;
    std::shared_ptr<Latch> done;
  };

  // The latch opens when the report has run, or will never run.
  void post(Report report);
  // Runs one report; `nothing` when the deadline came first, `closed` when none will come any more.
  enum class Seen { ran, nothing, closed };
  Seen process_one(const Deadline& deadline);
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Report> reports_;
  bool closed_ = false;
};

// Which thread runs the callbacks of which stream. Threads are those of pthread_self().
class Reports {
 public:
  // False when the stream has a thread already.
  bool subscribe(std::uint64_t thread, const Stream* stream);
  // False when this thread does not serve the stream.
  bool unsubscribe(std::uint64_t thread, const Stream* stream);
  void forget_stream(const Stream* stream);

  // Null where nobody serves the stream, or the thread serves none.
  std::shared_ptr<Inbox> inbox_of_stream(const Stream* stream) const;
  std::shared_ptr<Inbox> inbox_of_thread(std::uint64_t thread) const;

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
