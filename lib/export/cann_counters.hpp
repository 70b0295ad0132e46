// TaskCounters: the raw counters of tasks, for what PmuMetrics makes of them. For op_summary and
// the timeline of --style cann5.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// The counters of tasks, asked for in the order of the tasks.
class TaskCounters {
 public:
  explicit TaskCounters(const Database& db)
      : read_(db.prepare(
            "SELECT task_id, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15,"
            " c16, c17, c18, c19 FROM task_pmu ORDER BY task_id")),
        more_(read_.step()) {
    Statement columns = db.prepare("SELECT ifnull(max(column_number) + 1, 0) FROM pmu_column");
    if (columns.step()) {
      used_ = std::min<std::int64_t>(columns.integer(0), static_cast<std::int64_t>(kPmuColumns));
    }
  }

  // Null where the task has none.
  const std::int64_t* of(std::int64_t task_id) {
    while (more_ && read_.integer(0) < task_id) more_ = read_.step();
    if (!more_ || read_.integer(0) != task_id) return nullptr;
    for (std::int64_t i = 0; i < used_; ++i) {
      const int cell = static_cast<int>(i) + 1;
      const std::int64_t value = read_.integer(cell);
      values_[static_cast<std::size_t>(i)] = value == 0 && read_.is_null(cell) ? kNull : value;
    }
    return values_.data();
  }

 private:
  Statement read_;
  bool more_;
  std::int64_t used_ = 0;
  std::array<std::int64_t, kPmuColumns> values_{};
};

}  // namespace msprof::cann
