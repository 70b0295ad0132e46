// task_time: one row per task of any kind, by start over all devices. For a 310: one row per group
// of identical tasks, longest total time first. Source: cann_device.md 19.
#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/interrupt.hpp"
#include "base/number.hpp"
#include "base/recent_map.hpp"
#include "export/ordered_chunks.hpp"
#include "export/products.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

// A task as numbered by the runtime; its sub-tasks have the same key.
struct TaskTimeKey {
  explicit TaskTimeKey(const TaskRow& row)
      : device(row.device_id), stream(row.stream_id), task(row.task_number), batch(row.batch) {}
  bool operator==(const TaskTimeKey&) const = default;
  std::int64_t device, stream, task, batch;
};

struct TaskTimeKeyHash {
  std::size_t operator()(const TaskTimeKey& key) const {
    return cann::hash_of({key.device, key.stream, key.task, key.batch});
  }
};

// Finds tasks that represent their sub-tasks: if context 0 of a key comes before all other
// contexts, only the rows of context 0 are printed (cann_device.md 19).
class SubTasks {
 public:
  explicit SubTasks(const Database& db) {
    RowCursor<TaskRow> tasks(db,
                             {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
                              &TaskRow::batch, &TaskRow::context},
                             {.not_null = {&TaskRow::context}});
    while (tasks.next()) only_first_.try_emplace(TaskTimeKey(*tasks), tasks->context == 0);
    std::erase_if(only_first_, [](const auto& key) { return !key.second; });
    seen_.resize(std::bit_ceil(only_first_.size() * kBitsOfKey));
    for (const auto& [key, is_first] : only_first_) seen_[bit_index(key)] = true;
  }

  bool is_hidden(const TaskRow& task) const {
    if (only_first_.empty() || task.context == 0) return false;
    const TaskTimeKey key(task);
    return seen_[bit_index(key)] && only_first_.contains(key);
  }

 private:
  static constexpr std::size_t kBitsOfKey = 16;

  std::size_t bit_index(const TaskTimeKey& key) const {
    return TaskTimeKeyHash()(key) & (seen_.size() - 1);
  }

  std::unordered_map<TaskTimeKey, bool, TaskTimeKeyHash> only_first_;
  // A Bloom filter of the keys: most tasks have no sub-tasks and need no map look-up.
  std::vector<bool> seen_;
};

// Reads the printed tasks of one device, by start.
class DeviceTaskTimes {
 public:
  DeviceTaskTimes(const Database& db, const SubTasks& sub_tasks, const ExportScope& scope,
                  std::int64_t first, std::int64_t last)
      : tasks_(db, scope,
               {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number, &TaskRow::batch,
                &TaskRow::context, &TaskRow::host_type_name_id, &TaskRow::device_type_name_id,
                &TaskRow::kernel_name_id, &TaskRow::op_id},
               {.first_id = first, .last_id = last, .not_null = {&TaskRow::device_type_name_id}}),
        sub_tasks_(sub_tasks) {}

  bool next() {
    while (tasks_.next()) {
      if (!sub_tasks_.is_hidden(*tasks_)) return true;
    }
    return false;
  }
  const TaskRow& row() const { return *tasks_; }
  std::int64_t end_ns() const { return tasks_.end_ns(); }

 private:
  cann::TaskCursor tasks_;
  const SubTasks& sub_tasks_;
};

// Formats names and types of tasks once for all tasks that share them.
class TaskTexts {
 public:
  explicit TaskTexts(const Database& db)
      : texts_(db),
        types_(db),
        of_op_(db.prepare("SELECT name_id, unit_name_id FROM op WHERE id = ?")) {}

  // Writes the cells kernel_name and kernel_type.
  void write(RowBuilder& out, const TaskRow& row) {
    const Kind kind{row.kernel_name_id, row.host_type_name_id, row.device_type_name_id, row.op_id};
    out.share(cells_.get(kind, [&](const Kind& one) { return make_cells(one); }).cells());
  }

 private:
  struct Op {
    std::int64_t name = kNull;
    std::int64_t unit = kNull;
  };
  // Everything that the two texts depend on.
  struct Kind {
    std::int64_t kernel = kNull;
    std::int64_t host_type = kNull;
    std::int64_t device_type = kNull;
    std::int64_t op = kNull;
    bool operator==(const Kind&) const = default;
  };
  struct KindHash {
    std::size_t operator()(const Kind& kind) const {
      return cann::hash_of({kind.kernel, kind.host_type, kind.device_type, kind.op});
    }
  };

  // A task that the host recorded has the kernel's name or no name.
  static std::int64_t task_name(const Kind& kind, const Op& op) {
    return kind.kernel == kNull && kind.host_type == kNull ? op.name : kind.kernel;
  }

  CellList make_cells(const Kind& kind) {
    CellList cells;
    const Op op = kind.op == kNull ? Op() : read_op(kind.op);
    cann::text_or_missing(cells, texts_, given(task_name(kind, op)));
    cann::text_or_missing(cells, texts_,
                          given(types_.shown(op.unit, kind.host_type, kind.device_type)));
    return cells;
  }

  Op read_op(std::int64_t id) {
    of_op_.reset();
    of_op_.bind(1, id);
    if (!of_op_.step()) return {};
    return {of_op_.maybe_integer(0).value_or(kNull), of_op_.maybe_integer(1).value_or(kNull)};
  }

  cann::Texts texts_;
  cann::TaskTypes types_;
  Statement of_op_;
  static constexpr std::size_t kMaxKinds = 1 << 16;

  RecentMap<Kind, CellList, kMaxKinds, KindHash> cells_;
};

// The tasks of a chunk: a range of ids for each run of consecutive tasks of a device.
using TaskRanges = std::vector<IdRange>;

// Returns the first task of the run, whose tasks are sorted by start, that starts at `start_ns` or
// later; else the id after the last.
std::int64_t first_from(const Database& db, IdRange run, std::int64_t start_ns) {
  std::int64_t end = saturating_add(run.last, 1);
  while (run.first < end) {
    interrupt::check();
    const std::int64_t middle = run.first + saturating_subtract(end, run.first) / 2;
    RowCursor<TaskRow> task(db, {&TaskRow::id, &TaskRow::start_ns},
                            {.first_id = middle, .last_id = run.last});
    if (task.next() && task->start_ns < start_ns) {
      run.first = saturating_add(task->id, 1);
    } else {
      end = middle;
    }
  }
  return end;
}

// Cuts the runs at the starts of every so many tasks of the longest one.
std::vector<TaskRanges> plan_task_chunks(const Database& db, const ExportScope& scope) {
  constexpr std::int64_t kChunkRows = 1 << 13;
  // Each chunk reads from all runs. Captures have one per device; only a foreign store has so many.
  constexpr std::size_t kMaxRuns = 256;
  TaskRanges rest;
  IdRange longest{0, -1};
  Statement runs = db.prepare(
      "SELECT first_task_id, last_task_id, device_id FROM task_run ORDER BY device_id, "
      "first_task_id");
  while (runs.step()) {
    if (!runs.is_null(2) && !scope.takes_device(runs.integer(2))) continue;
    const IdRange run = rest.emplace_back(IdRange{runs.integer(0), runs.integer(1)});
    if (saturating_subtract(run.last, run.first) > saturating_subtract(longest.last, longest.first))
      longest = run;
  }
  std::vector<TaskRanges> chunks;
  if (rest.size() > kMaxRuns) longest.last = longest.first;
  for (const IdRange& ids : cann::chunk_ranges(longest, kChunkRows)) {
    if (ids.first == longest.first) continue;
    RowCursor<TaskRow> task(db, {&TaskRow::start_ns}, {.first_id = ids.first});
    if (!task.next()) break;
    TaskRanges& chunk = chunks.emplace_back(rest);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      rest[i].first = first_from(db, rest[i], task->start_ns);
      chunk[i].last = saturating_subtract(rest[i].first, 1);
    }
  }
  chunks.push_back(std::move(rest));
  return chunks;
}

bool is_310(const Database& db) {
  Statement read = db.prepare("SELECT 1 FROM device WHERE platform = 0");
  return read.step();
}

// Groups identical tasks of a 310 and sums their waiting times as recorded by the scheduler.
class SchedulerTimes {
 public:
  explicit SchedulerTimes(const Database& db)
      : texts_(db),
        ops_(db),
        call_(db.prepare("SELECT name_id FROM api_call WHERE id = ?")),
        waits_(
            db.prepare("SELECT task_id, waiting_ns, pending_ns FROM task_wait ORDER BY task_id")),
        has_wait_(waits_.step()) {}

  // Tasks must be added in ascending order of ids.
  void add(const TaskRow& task) {
    const SchedulerKey key{task.device_id,   task.device_type_name_id, read_api(task.api_id),
                           task.task_number, task.stream_id,           task.batch};
    Sum& sum = sums_[key];
    sum.times.add(task.duration_ns);
    if (!sum.op) sum.op = ops_.find(given(task.op_id));
    while (has_wait_ && waits_.integer(0) < task.id) has_wait_ = waits_.step();
    if (!has_wait_ || waits_.integer(0) != task.id) return;
    if (!waits_.is_null(1)) sum.waiting_ns = sum.waiting_ns.value_or(0) + waits_.integer(1);
    if (!waits_.is_null(2)) sum.pending_ns = sum.pending_ns.value_or(0) + waits_.integer(2);
  }

  void write(RowBuilder& out) {
    cann::DeviceTotals totals;
    std::vector<const std::pair<const SchedulerKey, Sum>*> rows;
    for (const auto& row : sums_) {
      totals.add(std::get<0>(row.first), row.second.times);
      rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.times.total_ns > b->second.times.total_ns;
    });
    for (const auto* row : rows) write_row(out, row->first, row->second, totals);
  }

 private:
  // Device, type, call, task, stream, batch.
  using SchedulerKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                  std::int64_t, std::int64_t>;
  struct Sum {
    cann::DurationStats times;
    std::optional<int128> waiting_ns;
    std::optional<int128> pending_ns;
    std::optional<std::int64_t> op;
  };

  std::int64_t read_api(std::int64_t call_id) {
    if (call_id == kNull) return kNull;
    call_.reset();
    call_.bind(1, call_id);
    return call_.step() ? call_.maybe_integer(0).value_or(kNull) : kNull;
  }

  void write_row(RowBuilder& out, const SchedulerKey& key, const Sum& sum,
                 const cann::DeviceTotals& totals) {
    const cann::DurationStats& times = sum.times;
    const auto us = [&](int128 ns) { out.number(cann::trimmed3(ns, 1000)); };
    out.number(std::get<0>(key));
    out.number(totals.ratio(std::get<0>(key), times));
    us(times.total_ns);
    out.number(times.count);
    out.number(cann::trimmed3(times.total_ns, int128{times.count} * 1000));
    us(times.shortest_ns);
    us(times.longest_ns);
    sum.waiting_ns ? us(*sum.waiting_ns) : out.missing();
    us(times.total_ns);
    sum.pending_ns ? us(*sum.pending_ns) : out.missing();
    cann::text_or_missing(out, texts_, std::get<1>(key));
    cann::text_or_missing(out, texts_, given(std::get<2>(key)));
    out.number(std::get<3>(key));
    cann::text_or_missing(out, texts_, sum.op);
    out.number(std::get<4>(key));
    out.end_row();
  }

  cann::Texts texts_;
  cann::OpNames ops_;
  Statement call_;
  Statement waits_;
  bool has_wait_;
  std::map<SchedulerKey, Sum> sums_;
};

class CannTaskTime : public cann::CannTable {
 public:
  CannTaskTime()
      : CannTable({.name = "task_time",
                   .title = "Task time",
                   .help = "start, end and kernel of every task on the device",
                   .exists = "SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
                   .needs = kDeviceLogs},
                  {"Device_id", "kernel_name", "kernel_type", "stream_id", "task_id",
                   "task_time(us)", "task_start(us)", "task_stop(us)"}) {}

  std::vector<std::string> columns(const Database& db) const override {
    if (!is_310(db)) return CannTable::columns(db);
    return {"Device_id", "Time(%)", "Time(us)",    "Count",       "Avg(us)",
            "Min(us)",   "Max(us)", "Waiting(us)", "Running(us)", "Pending(us)",
            "Type",      "API",     "Task ID",     "Op Name",     "Stream ID"};
  }

  std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const override {
    if (is_310(db)) {
      return {[output_file](const Database& own, RowBuilder& out) {
        write_310(own, output_file.scope, out);
      }};
    }
    const auto shared = std::make_shared<Shared>(db, output_file.scope);
    std::vector<TableChunk> chunks;
    for (TaskRanges& tasks : plan_task_chunks(db, output_file.scope)) {
      chunks.emplace_back([shared, tasks = std::move(tasks)](const Database& own, RowBuilder& out) {
        write_chunk(own, *shared, tasks, out);
      });
    }
    return chunks;
  }

 private:
  struct Shared {
    Shared(const Database& db, const ExportScope& of) : sub_tasks(db), scope(of) {}
    const SubTasks sub_tasks;
    const ExportScope scope;
    PerConnection<TaskTexts> texts;
  };

  static void write_chunk(const Database& db, Shared& shared, const TaskRanges& tasks,
                          RowBuilder& out) {
    TaskTexts& texts = shared.texts.find(db, [&] { return std::make_unique<TaskTexts>(db); });
    std::vector<DeviceTaskTimes> devices;
    devices.reserve(tasks.size());
    // Start of the next task, and index, of each run that has tasks left.
    using Head = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (const IdRange& ids : tasks) {
      DeviceTaskTimes& device =
          devices.emplace_back(db, shared.sub_tasks, shared.scope, ids.first, ids.last);
      if (device.next()) heads.emplace(device.row().start_ns, devices.size() - 1);
    }
    while (!heads.empty()) {
      const std::size_t i = heads.top().second;
      heads.pop();
      write_row(out, devices[i], texts);
      if (devices[i].next()) heads.emplace(devices[i].row().start_ns, i);
    }
  }

  static void write_310(const Database& db, const ExportScope& scope, RowBuilder& out) {
    SchedulerTimes times(db);
    cann::TaskCursor tasks(
        db, scope,
        {&TaskRow::id, &TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
         &TaskRow::batch, &TaskRow::device_type_name_id, &TaskRow::op_id, &TaskRow::api_id},
        {.not_null = {&TaskRow::device_type_name_id}});
    while (tasks.next()) times.add(*tasks);
    times.write(out);
  }

  static void write_row(RowBuilder& out, const DeviceTaskTimes& task, TaskTexts& texts) {
    const TaskRow& row = task.row();
    out.number(row.device_id);
    texts.write(out, row);
    out.number(row.stream_id);
    out.number(row.task_number);
    cann::us_number(out, row.duration_ns);
    cann::us_timestamp(out, row.start_ns);
    cann::us_timestamp(out, task.end_ns());
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_task_time() {
  return std::make_unique<CannTaskTime>();
}

}  // namespace msprof
