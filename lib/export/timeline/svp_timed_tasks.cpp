#include "export/timeline/svp_timed_tasks.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::svp {

class TimedTasks::Source {
 public:
  virtual ~Source() = default;
  virtual bool next(TimedTask& task) = 0;
};

namespace {

// Limits memory: each open file has a buffer of 64 kB.
constexpr std::size_t kMaxOpenRuns = 64;
// Limit for tasks of a file that wait for one that started before them: 12 MB.
constexpr std::size_t kMaxHeld = std::size_t{1} << 18;

struct TimedRun {
  std::int64_t first_task_id = 0;
  std::int64_t last_task_id = 0;
  std::int64_t step_id = 0;
  std::int64_t timed_count = 0;
  std::int64_t first_start_ns = 0;
  std::int64_t last_start_ns = 0;
  std::int64_t disorder_ns = 0;
};

std::vector<TimedRun> read_runs(const Database& db, std::int64_t model_row,
                                std::int64_t batch_num) {
  Statement read = db.prepare(
      "SELECT run.first_task_id, run.last_task_id, step.id, time.timed_count, time.first_start_ns,"
      " time.last_start_ns, time.disorder_ns FROM step JOIN task_run AS run ON run.step_id ="
      " step.id JOIN task_run_time AS time ON time.run_id = run.id"
      " WHERE step.model_row = ? AND step.batch_num = ? ORDER BY run.id");
  read.bind(1, model_row).bind(2, batch_num);
  std::vector<TimedRun> runs;
  while (read.step()) {
    runs.push_back({read.integer(0), read.integer(1), read.integer(2), read.integer(3),
                    read.integer(4), read.integer(5), read.integer(6)});
  }
  return runs;
}

bool is_before(const TimedTask& a, const TimedTask& b) {
  return std::tie(a.start_ns, b.duration_ns, a.id) < std::tie(b.start_ns, a.duration_ns, b.id);
}

bool is_behind(const TimedTask& a, const TimedTask& b) {
  return is_before(b, a);
}

// Reads one run in order: returns a task once no earlier one can follow.
class OrderedRun {
 public:
  OrderedRun(const Database& db, const TimedRun& run)
      : step_id_(run.step_id),
        disorder_ns_(run.disorder_ns),
        rows_(db,
              {&TaskRow::id, &TaskRow::op_id, &TaskRow::start_ns, &TaskRow::duration_ns,
               &TaskRow::execution},
              {.first_id = run.first_task_id,
               .last_id = run.last_task_id,
               .not_null = {&TaskRow::start_ns, &TaskRow::duration_ns}}) {}

  bool next(TimedTask& task) {
    while (has_more_ &&
           (held_.empty() ||
            saturating_subtract(last_start_ns_, held_.front().start_ns) <= disorder_ns_)) {
      has_more_ = rows_.next();
      if (has_more_) hold();
    }
    if (held_.empty()) return false;
    std::pop_heap(held_.begin(), held_.end(), is_behind);
    task = held_.back();
    held_.pop_back();
    return true;
  }

  std::size_t held() const { return held_.size(); }

 private:
  void hold() {
    held_.push_back({rows_->start_ns, rows_->duration_ns, rows_->id,
                     given(rows_->op_id).value_or(0), step_id_,
                     given(rows_->execution).value_or(0)});
    std::push_heap(held_.begin(), held_.end(), is_behind);
    last_start_ns_ = std::max(last_start_ns_, rows_->start_ns);
  }

  const std::int64_t step_id_;
  const std::int64_t disorder_ns_;
  RowCursor<TaskRow> rows_;
  std::vector<TimedTask> held_;  // a heap, the earliest first
  std::int64_t last_start_ns_ = INT64_MIN;
  bool has_more_ = true;
};

// Merges several runs; opens each when its first task can be the next.
class MergedRuns : public TimedTasks::Source {
 public:
  MergedRuns(const Database& db, std::vector<TimedRun> runs) : db_(db), waiting_(std::move(runs)) {
    std::erase_if(waiting_, [](const TimedRun& run) { return run.timed_count == 0; });
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const TimedRun& a, const TimedRun& b) {
      return a.first_start_ns > b.first_start_ns;  // the next one last
    });
  }

  bool next(TimedTask& task) override {
    if (is_last_open_) refill();
    while (!waiting_.empty() &&
           (open_.empty() || waiting_.back().first_start_ns <= open_.front().task.start_ns)) {
      Open one;
      one.run = std::make_unique<OrderedRun>(db_, waiting_.back());
      waiting_.pop_back();
      if (one.run->next(one.task)) push(std::move(one));
    }
    if (open_.empty()) return false;
    task = open_.front().task;
    is_last_open_ = true;
    return true;
  }

 private:
  struct Open {
    std::unique_ptr<OrderedRun> run;
    TimedTask task;  // its next task
  };
  static bool opens_later(const Open& a, const Open& b) { return is_before(b.task, a.task); }

  void push(Open one) {
    open_.push_back(std::move(one));
    std::push_heap(open_.begin(), open_.end(), opens_later);
  }
  // Reads the next task of the run whose task was returned last.
  void refill() {
    is_last_open_ = false;
    const std::int64_t given_ns = open_.front().task.start_ns;
    if (open_.size() == 1) {
      if (!open_.front().run->next(open_.front().task)) open_.clear();
    } else {
      std::pop_heap(open_.begin(), open_.end(), opens_later);
      Open one = std::move(open_.back());
      open_.pop_back();
      if (one.run->next(one.task)) push(std::move(one));
    }
    if (!open_.empty() && open_.front().task.start_ns < given_ns)
      throw db_.damaged("the tasks are not in import order");
  }

  const Database& db_;
  std::vector<TimedRun> waiting_;
  std::vector<Open> open_;     // a heap, the earliest first
  bool is_last_open_ = false;  // open_.front() still has the task that was returned last
};

class SortedBySqlite : public TimedTasks::Source {
 public:
  SortedBySqlite(const Database& db, std::int64_t model_row, std::int64_t batch_num)
      : read_(db.prepare(
            "SELECT task.start_ns, task.duration_ns, task.id, task.op_id, step.id, task.execution"
            " FROM step JOIN task_run AS run ON run.step_id = step.id"
            " CROSS JOIN task ON task.id BETWEEN run.first_task_id AND run.last_task_id"
            " WHERE step.model_row = ? AND step.batch_num = ?"
            " AND task.start_ns IS NOT NULL AND task.duration_ns IS NOT NULL"
            " ORDER BY task.start_ns, task.duration_ns DESC, task.id")) {
    read_.bind(1, model_row).bind(2, batch_num);
  }

  bool next(TimedTask& task) override {
    if (!read_.step()) return false;
    task = {read_.integer(0), read_.integer(1), read_.integer(2),
            read_.integer(3), read_.integer(4), read_.integer(5)};
    return true;
  }

 private:
  Statement read_;
};

bool has_room_for_disorder(const Database& db, const TimedRun& run) {
  if (run.disorder_ns == 0) return true;
  OrderedRun tasks(db, run);
  TimedTask task;
  while (tasks.next(task)) {
    if (tasks.held() > kMaxHeld) return false;
  }
  return true;
}

// Returns the maximum number of runs open at the same time.
std::size_t most_open(const std::vector<TimedRun>& runs) {
  std::vector<std::pair<std::int64_t, int>> moments;
  for (const TimedRun& run : runs) {
    if (run.timed_count == 0) continue;
    moments.emplace_back(run.first_start_ns, -1);
    moments.emplace_back(run.last_start_ns, 1);
  }
  // Starts sort before ends: at the same time both runs are open.
  std::sort(moments.begin(), moments.end());
  std::size_t open = 0;
  std::size_t most = 0;
  for (const auto& [ns, change] : moments) {
    open = change < 0 ? open + 1 : open - 1;
    most = std::max(most, open);
  }
  return most;
}

}  // namespace

TimedTasks::TimedTasks(const Database& db, std::int64_t model_row, std::int64_t batch_num) {
  std::vector<TimedRun> runs = read_runs(db, model_row, batch_num);
  for (const TimedRun& run : runs) {
    count_ = saturating_add(count_, run.timed_count);
    missing_ = saturating_add(
        missing_, saturating_subtract(
                      saturating_add(saturating_subtract(run.last_task_id, run.first_task_id), 1),
                      run.timed_count));
  }
  const bool is_merged =
      RowCursor<TaskRow>(db, {&TaskRow::id}).reads_pages() && most_open(runs) <= kMaxOpenRuns &&
      std::all_of(runs.begin(), runs.end(),
                  [&](const TimedRun& run) { return has_room_for_disorder(db, run); });
  if (is_merged) {
    source_ = std::make_unique<MergedRuns>(db, std::move(runs));
  } else {
    source_ = std::make_unique<SortedBySqlite>(db, model_row, batch_num);
  }
}

TimedTasks::~TimedTasks() = default;

bool TimedTasks::is_for_any_thread() const {
  return dynamic_cast<const SortedBySqlite*>(source_.get()) == nullptr;
}

bool TimedTasks::next(TimedTask& task) {
  return source_->next(task);
}

}  // namespace msprof::svp
