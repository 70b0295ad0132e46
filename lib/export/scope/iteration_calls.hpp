// IterationCalls: the host calls of an iteration. The host launches tasks long before a device runs
// them, so a call belongs to the iteration of the tasks it launched, not to the one running at its
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof {

// The launching calls of each thread, for queries by time range.
class LaunchSpans {
 public:
  // Launches must be added in the order of their starts.
  void add(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns);

  bool empty() const { return threads_.empty(); }
  // Returns true if a call of the thread is a launch, contains one or lies within one.
  bool touches(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) const;
  // Returns true if the range contains a launch of any thread.
  bool are_within(std::int64_t start_ns, std::int64_t end_ns) const;
  // First start and last end; valid only if not empty().
  std::int64_t first_ns() const { return first_ns_; }
  std::int64_t last_ns() const { return last_ns_; }

 private:
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  // In each list no span contains another, so both starts and ends ascend.
  struct Thread {
    std::vector<Span> inner;  // spans that contain no other
    std::vector<Span> outer;  // spans that no other contains
  };
  static bool has_within(const std::vector<Span>& inner, std::int64_t start_ns,
                         std::int64_t end_ns);

  std::map<std::int64_t, Thread> threads_;
  std::int64_t first_ns_ = INT64_MAX;
  std::int64_t last_ns_ = INT64_MIN;
};

class IterationCalls {
 public:
  // `takes` returns true for tasks of the iteration, which runs on the devices from `begin_ns` to
  // `end_ns`. Launches of other iterations' tasks are looked up only in that range.
  IterationCalls(const Database& db, const std::function<bool(const TaskRow& task)>& takes,
                 std::int64_t begin_ns, std::int64_t end_ns);

  // Returns whether a call belongs to the iteration; empty if no launch lies within or around it.
  std::optional<bool> takes_call(std::int64_t thread_id, std::int64_t start_ns,
                                 std::int64_t end_ns) const;
  // Like takes_call(), for a range of the application, which can be on another thread than the
  // launch.
  std::optional<bool> takes_range(std::int64_t start_ns, std::int64_t end_ns) const;

  const LaunchSpans& own() const { return own_; }

 private:
  LaunchSpans own_;
  LaunchSpans others_;
};

}  // namespace msprof
