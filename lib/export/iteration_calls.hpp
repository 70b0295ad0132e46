// IterationCalls: the host's part of an iteration. The host launches tasks long before a device
// runs them, so that times of calls do not say to which iteration they belong: the tasks that they
// launched do. For ExportScope.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof {

// Launches of threads: calls of known times, asked for by containment.
class LaunchSpans {
 public:
  // Launches come in the order of their starts.
  void add(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns);

  bool empty() const { return threads_.empty(); }
  // True if a call of the thread is a launch, is around one or is within one.
  bool touches(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) const;
  // True if the time has a launch of any thread in it.
  bool are_within(std::int64_t start_ns, std::int64_t end_ns) const;
  // From the first start to the last end; only where there is one.
  std::int64_t first_ns() const { return first_ns_; }
  std::int64_t last_ns() const { return last_ns_; }

 private:
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  // Spans of which none contains another, so that both their starts and their ends rise.
  struct Thread {
    std::vector<Span> inner;  // those that contain no other
    std::vector<Span> outer;  // those that no other contains
  };
  static bool has_within(const std::vector<Span>& inner, std::int64_t start_ns,
                         std::int64_t end_ns);

  std::map<std::int64_t, Thread> threads_;
  std::int64_t first_ns_ = INT64_MAX;
  std::int64_t last_ns_ = INT64_MIN;
};

class IterationCalls {
 public:
  // `takes` says which tasks are of the iteration, in whose time on the devices, `begin_ns` to
  // `end_ns`, calls are looked for that launch tasks of others.
  IterationCalls(const Database& db, const std::function<bool(const TaskRow& task)>& takes,
                 std::int64_t begin_ns, std::int64_t end_ns);

  // Whether a call belongs to the iteration; empty where nothing was launched within or around it.
  std::optional<bool> takes_call(std::int64_t thread_id, std::int64_t start_ns,
                                 std::int64_t end_ns) const;
  // The same of a range of the application, which need not be of the thread that launches.
  std::optional<bool> takes_range(std::int64_t start_ns, std::int64_t end_ns) const;

  const LaunchSpans& own() const { return own_; }

 private:
  LaunchSpans own_;
  LaunchSpans others_;
};

}  // namespace msprof
