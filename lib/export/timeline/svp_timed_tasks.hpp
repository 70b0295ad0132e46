// TimedTasks: the tasks of a model of a board that have a start and a duration, in the order in
// which they began; of those that began at the same time the longest first. For the timeline.
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

// Records of a file are nearly in that order, and import has noted how nearly (task_run_time): they
// are read as they come, and the files of several captures are merged. Where they are in no order
// that fits memory, SQLite sorts them.
class TimedTasks {
 public:
  TimedTasks(const Database& db, std::int64_t model_row, std::int64_t batch_num);
  ~TimedTasks();
  TimedTasks(const TimedTasks&) = delete;
  TimedTasks& operator=(const TimedTasks&) = delete;

  // As import has counted them; a store from elsewhere may hold others.
  std::int64_t count() const { return count_; }
  // Tasks of the model without a start or a duration.
  std::int64_t missing() const { return missing_; }
  // Any thread may go on with it, one at a time.
  bool is_for_any_thread() const;

  // False at the end.
  bool next(TimedTask& task);

  class Source;

 private:
  std::int64_t count_ = 0;
  std::int64_t missing_ = 0;
  std::unique_ptr<Source> source_;
};

}  // namespace msprof::svp
