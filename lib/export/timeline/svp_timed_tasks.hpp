// TimedTasks: reads the tasks of a board's model that have a start and a duration, by start; at
// equal starts the longest first. For the timeline.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "store/database.hpp"

namespace msprof::svp {

struct TimedTask {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t id = 0;
  std::int64_t op_id = 0;
  std::int64_t step_id = 0;
  std::int64_t execution = 0;
};

// Records of a file are almost sorted; import stores how far they are out of order (task_run_time).
// They are read in sequence, and the files of several captures are merged. SQLite sorts them if
// they are too far out of order for memory.
class TimedTasks {
 public:
  TimedTasks(const Database& db, std::int64_t model_row, std::int64_t batch_num);
  ~TimedTasks();
  TimedTasks(const TimedTasks&) = delete;
  TimedTasks& operator=(const TimedTasks&) = delete;

  // The count made by import; an untrusted store may differ.
  std::int64_t count() const { return count_; }
  // Tasks of the model without a start or a duration.
  std::int64_t missing() const { return missing_; }
  // Returns true if any thread may call next(), one at a time.
  bool is_for_any_thread() const;

  // Returns false at the end.
  bool next(TimedTask& task);

  class Source;

 private:
  std::int64_t count_ = 0;
  std::int64_t missing_ = 0;
  std::unique_ptr<Source> source_;
};

}  // namespace msprof::svp
