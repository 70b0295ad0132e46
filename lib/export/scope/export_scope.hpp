// ExportScope: the part of a capture to export. Set by `--device`, `--time-range`, `--min-dur` and
// `--model-id` with `--iteration-id`; also restricts products of one device to that device. Tables
// and layers check each row. Without limits every row is included.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/number.hpp"
#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof {

struct IterationWindow {
  std::int64_t device_id = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  // CANN 5 assigns an event to the iteration in which it ends (after `begin_ns`, not after
  // `end_ns`); later versions to the one in which it starts.
  bool assigns_by_end = false;
};

// The rows `first` to `last`, both included.
struct IdRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// Rows that can overlap a time range, according to the time blocks that import stored. Ranges are
// ascending and do not touch.
struct CandidateRows {
  std::optional<std::vector<IdRange>> tasks;  // empty: unknown, all rows
  std::optional<std::vector<IdRange>> calls;
};

class IterationCalls;

struct ExportScope {
  std::vector<std::int64_t> devices;  // empty: all
  // Limits the scope to rows that overlap this range; both ends are included.
  std::int64_t range_begin_ns = INT64_MIN;
  std::int64_t range_end_ns = INT64_MAX;
  std::int64_t min_duration_ns = 0;  // applies to slices of a timeline
  // Selects `iteration` and the following ones. Includes device rows that start within one of them
  // on a device that ran it; the host calls that launched their tasks, and the calls around these;
  // and host rows that start within them and launched no other task.
  std::optional<std::int64_t> model_number;
  std::optional<std::int64_t> iteration;
  std::int64_t iteration_count = 1;
  std::vector<IterationWindow> windows;
  std::shared_ptr<const IterationCalls> calls = nullptr;  // null: no iteration selected
  // Rows for the time range above (find_candidates()); null: not searched.
  std::shared_ptr<const CandidateRows> candidates = nullptr;

  bool is_everything() const;
  ExportScope without_iteration() const;
  bool takes_device(std::int64_t device_id) const;
  bool takes_length(std::int64_t duration_ns) const { return duration_ns >= min_duration_ns; }
  bool takes(std::int64_t device_id, std::int64_t start_ns, std::int64_t end_ns) const;
  bool takes_host(std::int64_t start_ns, std::int64_t end_ns) const;
  // Checks only the number, not the model.
  bool takes_iteration_number(std::int64_t number) const {
    return !iteration || (number >= *iteration && number - *iteration < iteration_count);
  }
  // Returns the iteration number that all rows of the scope share; empty if they can differ.
  std::optional<std::int64_t> only_iteration() const {
    return iteration_count == 1 ? iteration : std::nullopt;
  }
  // Like takes_host(), for a call and for a range of the application.
  bool takes_call(std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) const;
  bool takes_range(std::int64_t start_ns, std::int64_t end_ns) const;
  // Rows without a model are always included.
  bool takes_model(std::optional<std::int64_t> number) const {
    return !model_number || !number || *number == *model_number;
  }

 private:
  bool takes_time(std::int64_t start_ns, std::int64_t end_ns) const {
    return end_ns >= range_begin_ns && start_ns <= range_end_ns;
  }
};

// Checks rows against a scope; fast if the scope has no limits.
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
  // Returns true for an iteration in the scope: the ones requested, or all if none was requested.
  bool takes_iteration(std::optional<std::int64_t> model, std::int64_t number) const {
    return !is_limited_ || !scope_.iteration ||
           (model == scope_.model_number && scope_.takes_iteration_number(number));
  }

 private:
  ExportScope scope_;
  bool is_limited_;
};

// Returns the start of the collection, or of the first record. Relative times of --time-range count
// from it.
std::int64_t collection_begin_ns(const Database& db);

// Finds the rows that a scope limited in time can include. Call after all limits are set.
void find_candidates(const Database& db, ExportScope& scope);
// The part of `rows` that is in scope.
std::vector<IdRange> candidates_in(const std::optional<std::vector<IdRange>>& candidates,
                                   IdRange rows);

// Fills `windows` and `calls` for the model and the iterations of `scope` on its devices. If
// `scope` names no model, uses the only one that has iterations. Throws Error(usage), with a list
// of the existing ones, if there are several such models or no device ran one of the iterations.
void find_iteration(const Database& db, ExportScope& scope);

}  // namespace msprof
