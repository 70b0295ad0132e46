// ExportScope: the part of a capture that an export is about. For `--device`, `--time-range`,
// `--min-dur`, `--model-id` with `--iteration-id`, and for products of one device each.
// Tables and layers ask it row by row; without any limit every answer is yes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/number.hpp"
#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof {

// The time of one iteration on one device.
struct IterationWindow {
  std::int64_t device_id = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  // Of CANN 5: what ends after `begin_ns`, and not after `end_ns`, is of the iteration; else what
  // begins within it.
  bool takes_ends = false;
};

// The rows from `first` to `last`, both included.
struct IdRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// Rows that a stretch of time may have, by what import found of blocks of them; no other has a part
// in it. Ranges are in the order of their ids and do not touch.
struct CandidateRows {
  std::optional<std::vector<IdRange>> tasks;  // empty: not known, all
  std::optional<std::vector<IdRange>> calls;
};

class IterationCalls;

struct ExportScope {
  std::vector<std::int64_t> devices;  // empty: all
  // Limits to what overlaps this range, its ends included.
  std::int64_t range_begin_ns = INT64_MIN;
  std::int64_t range_end_ns = INT64_MAX;
  std::int64_t min_duration_ns = 0;  // of slices of a timeline
  // Iterations, `iteration` and those that follow it: rows that begin within one of them, on a
  // device that ran it. Of the host the launches of their tasks and what is around them, and what
  // begins within them and launches nothing else.
  std::optional<std::int64_t> model_number;
  std::optional<std::int64_t> iteration;
  std::int64_t iteration_count = 1;
  std::vector<IterationWindow> windows;
  std::shared_ptr<const IterationCalls> calls = nullptr;  // null: no iteration
  // Of the stretch of time above (find_candidates()); null: not looked for.
  std::shared_ptr<const CandidateRows> candidates = nullptr;

  bool is_everything() const;
  // The same of all iterations.
  ExportScope without_iteration() const;
  bool takes_device(std::int64_t device_id) const;
  // True if a slice of that length may be drawn.
  bool takes_length(std::int64_t duration_ns) const { return duration_ns >= min_duration_ns; }
  // True for a row of a device, and one of the host, in the scope.
  bool takes(std::int64_t device_id, std::int64_t start_ns, std::int64_t end_ns) const;
  bool takes_host(std::int64_t start_ns, std::int64_t end_ns) const;
  // True for the number of an iteration in the scope, whatever its model.
  bool takes_iteration_number(std::int64_t number) const {
    return !iteration || (number >= *iteration && number - *iteration < iteration_count);
  }
  // The number that rows of the scope have in common; empty where they may differ.
  std::optional<std::int64_t> only_iteration() const {
    return iteration_count == 1 ? iteration : std::nullopt;
  }
  // The same for a call, and for a range of the application.
  bool takes_call(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) const;
  bool takes_range(std::int64_t start_ns, std::int64_t end_ns) const;
  // Rows of no model go with every model.
  bool takes_model(std::optional<std::int64_t> number) const {
    return !model_number || !number || *number == *model_number;
  }

 private:
  bool takes_time(std::int64_t start_ns, std::int64_t end_ns) const {
    return end_ns >= range_begin_ns && start_ns <= range_end_ns;
  }
};

// Selection of a scope from a table. Without any limit every answer is a quick yes.
class ScopeFilter {
 public:
  explicit ScopeFilter(const ExportScope& scope)
      : scope_(scope), is_limited_(!scope.is_everything()) {}

  bool is_limited() const { return is_limited_; }

  bool takes_device(std::int64_t device) const {
    return !is_limited_ || scope_.takes_device(device);
  }
  bool takes(std::int64_t device, std::int64_t start_ns, std::int64_t end_ns) const {
    return !is_limited_ || scope_.takes(device, start_ns, end_ns);
  }
  bool takes_for(std::int64_t device, std::int64_t start_ns, std::int64_t duration_ns) const {
    return !is_limited_ || scope_.takes(device, start_ns, saturating_add(start_ns, duration_ns));
  }
  bool takes_host(std::int64_t start_ns, std::int64_t end_ns) const {
    return !is_limited_ || scope_.takes_host(start_ns, end_ns);
  }
  bool takes_call(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) const {
    return !is_limited_ || scope_.takes_call(thread_id, start_ns, end_ns);
  }
  bool takes_range(std::int64_t start_ns, std::int64_t end_ns) const {
    return !is_limited_ || scope_.takes_range(start_ns, end_ns);
  }
  bool takes_model(std::optional<std::int64_t> number) const {
    return !is_limited_ || scope_.takes_model(number);
  }
  // True for an iteration in the scope: the one requested, else all that devices and times take.
  bool takes_iteration(std::optional<std::int64_t> model, std::int64_t number) const {
    return !is_limited_ || !scope_.iteration ||
           (model == scope_.model_number && scope_.takes_iteration_number(number));
  }

 private:
  ExportScope scope_;
  bool is_limited_;
};

// Begin of the collection, or of the first record; a time range given in "ms
// after the begin" counts from it.
std::int64_t collection_begin_ns(const Database& db);

// Finds the rows that a scope with a limit in time may take; to be called once it has its limits.
void find_candidates(const Database& db, ExportScope& scope);
// What of `rows` may be taken.
std::vector<IdRange> candidates_in(const std::optional<std::vector<IdRange>>& candidates,
                                   IdRange rows);

// Fills `windows` and `calls` for the model and the iterations that `scope` names, on its devices.
// Without a model it is the only one that has iterations. Throws Error(usage), with what there is,
// where there are several, or no device ran one of the iterations.
void find_iteration(const Database& db, ExportScope& scope);

}  // namespace msprof
