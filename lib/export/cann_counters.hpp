// TaskCounters: the raw counters of tasks, for what PmuMetrics makes of them. For op_summary, the
// timeline of --style cann5 and the unified database.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "store/database.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

// The counters of tasks, asked for in the order of the tasks.
class TaskCounters {
 public:
  explicit TaskCounters(const Database& db)
      : used_(used_columns(db)), read_(db.prepare(select(used_))), more_(read_.step()) {
    values_.fill(kNull);
  }

  // Null where the task has none.
  const std::int64_t* of(std::int64_t task_id) {
    while (more_ && read_.integer(0) < task_id) more_ = read_.step();
    if (!more_ || read_.integer(0) != task_id) return nullptr;
    for (std::size_t i = 0; i < used_; ++i) {
      const int cell = static_cast<int>(i) + 1;
      const std::int64_t value = read_.integer(cell);
      values_[i] = value == 0 && read_.is_null(cell) ? kNull : value;
    }
    return values_.data();
  }

 private:
  // Columns are used from the first on.
  static std::size_t used_columns(const Database& db) {
    Statement read = db.prepare("SELECT ifnull(max(column_number) + 1, 0) FROM pmu_column");
    const std::int64_t count = read.step() ? read.integer(0) : 0;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(kPmuColumns)));
  }
  static std::string select(std::size_t used) {
    std::string cells;
    for (std::size_t i = 0; i < used; ++i) cells += ", c" + std::to_string(i);
    return "SELECT task_id" + cells + " FROM task_pmu ORDER BY task_id";
  }

  std::size_t used_;
  Statement read_;
  bool more_;
  std::array<std::int64_t, kPmuColumns> values_{};
};

}  // namespace msprof::cann
