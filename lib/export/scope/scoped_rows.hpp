// TaskCursor, CallCursor: read the tasks and calls of a CANN capture that belong to the collection
// and are in the scope of an export, in ascending order of ids. This is the order of starts (tasks:
// per device).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "export/scope/cann_rules.hpp"
#include "export/scope/export_scope.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// Splits `ids` into ranges of `rows` ids. Ids are contiguous except in an untrusted store, so there
// are at most 1000 ranges; with more ids they are larger.
std::vector<IdRange> chunk_ranges(IdRange ids, std::int64_t rows);

// Which tasks belong to the collection.
enum class TaskWindow {
  ends_within,    // tasks that end at or after the collection's start
  starts_within,  // tasks that start after the collection's start
  any,
};

// Reads the rows of a cursor within the candidates, range by range.
template <typename Row>
class CandidateCursor {
 public:
  using Rows = RowCursor<Row>;
  // `candidates` may be null.
  CandidateCursor(const Database& db, const std::optional<std::vector<IdRange>>* candidates,
                  typename Rows::Columns columns, const typename Rows::Filter& filter)
      : db_(db), columns_(std::move(columns)), filter_(filter) {
    ranges_ = candidates == nullptr ? std::vector<IdRange>{{filter.first_id, filter.last_id}}
                                    : candidates_in(*candidates, {filter.first_id, filter.last_id});
  }

  bool next() {
    while (true) {
      if (rows_ && rows_->next()) return true;
      if (next_range_ == ranges_.size()) return false;
      filter_.first_id = ranges_[next_range_].first;
      filter_.last_id = ranges_[next_range_].last;
      ++next_range_;
      rows_.emplace(db_, columns_, filter_);
    }
  }
  const Row& operator*() const { return **rows_; }
  const Row* operator->() const { return &**rows_; }

 private:
  const Database& db_;
  typename Rows::Columns columns_;
  typename Rows::Filter filter_;
  std::vector<IdRange> ranges_;
  std::size_t next_range_ = 0;
  std::optional<Rows> rows_;
};

class TaskCursor {
 public:
  using Rows = RowCursor<TaskRow>;

  // Start, duration and the columns that the scope checks need not be among `columns`.
  TaskCursor(const Database& db, const ExportScope& scope, Rows::Columns columns,
             const Rows::Filter& filter = {}, TaskWindow window = TaskWindow::ends_within);

  bool next();
  const TaskRow& operator*() const { return *rows_; }
  const TaskRow* operator->() const { return &*rows_; }
  // Saturates, because the store is untrusted input.
  std::int64_t end_ns() const { return end_ns_; }

 private:
  bool is_taken() const {
    return scope_.takes(rows_->device_id, rows_->start_ns, end_ns_) &&
           scope_.takes_model(given(rows_->model_number));
  }

  ScopeFilter scope_;
  std::int64_t first_start_ns_ = INT64_MIN;
  std::int64_t first_end_ns_ = INT64_MIN;
  CandidateCursor<TaskRow> rows_;
  std::int64_t end_ns_ = 0;
};

class CallCursor {
 public:
  using Rows = RowCursor<ApiCallRow>;

  // Name, thread, start and end need not be among `columns`.
  CallCursor(const Database& db, const ExportScope& scope, Rows::Columns columns,
             const Rows::Filter& filter = {})
      : CallCursor(db, scope, std::move(columns), filter, CallWindow(db)) {}
  CallCursor(const Database& db, const ExportScope& scope, Rows::Columns columns,
             const Rows::Filter& filter, CallWindow window);

  bool next();
  const ApiCallRow& operator*() const { return *rows_; }
  const ApiCallRow* operator->() const { return &*rows_; }
  std::int64_t duration_ns() const { return saturating_subtract(rows_->end_ns, rows_->start_ns); }

 private:
  ScopeFilter scope_;
  CallWindow window_;
  CandidateCursor<ApiCallRow> rows_;
};

}  // namespace msprof::cann
