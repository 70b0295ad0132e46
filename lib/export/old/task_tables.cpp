// Tables of CANN 5 about device activity: op_statistic, task_time, step_trace, aicpu. Source:
// cann5_classic.md 10.
#include <algorithm>
#include <map>
#include <tuple>

#include "export/old/tables.hpp"

namespace msprof {

namespace {

// Sums durations of one device in ticks, which is exact for any tick length.
struct TickTimes {
  std::int64_t device = 0;
  std::int64_t count = 0;
  int128 total = 0;
  double shown = 0;  // the total used for sorting
  std::int64_t shortest = INT64_MAX;
  std::int64_t longest = INT64_MIN;

  void add(std::int64_t ticks) {
    ++count;
    total += ticks;
    shortest = std::min(shortest, ticks);
    longest = std::max(longest, ticks);
  }
};

class OldOpStatistic : public cann::CannTable {
 public:
  OldOpStatistic()
      : CannTable(
            {.name = "op_statistic",
             .title = "Op statistic",
             .help = "count, total, mean, shortest and longest time of every type of operator",
             .exists = "SELECT 1 FROM task WHERE op_id IS NOT NULL"},
            {"Model Name", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
             "Avg Time(us)", "Max Time(us)", "Ratio(%)"}) {}

  std::vector<std::string> columns(const Database& db) const override {
    auto all = CannTable::columns(db);
    if (!old::has_steps(db)) all.erase(all.begin());
    return all;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    // Device, model, type, kind.
    using TickGroupKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    const old::OldTimes times(db);
    std::map<TickGroupKey, TickTimes> groups;
    Statement op = db.prepare("SELECT type_name_id, unit_name_id FROM op WHERE id = ?");
    std::unordered_map<std::int64_t, std::pair<std::int64_t, std::int64_t>> types;
    cann::TaskCursor tasks(db, output_file.scope,
                           {&TaskRow::device_id, &TaskRow::model_number, &TaskRow::op_id},
                           {.not_null = {&TaskRow::op_id}}, cann::TaskWindow::any);
    int128 whole = 0;
    while (tasks.next()) {
      const auto [at, is_new] = types.try_emplace(tasks->op_id, kNull, kNull);
      if (is_new) {
        op.reset();
        op.bind(1, tasks->op_id);
        if (op.step())
          at->second = {op.maybe_integer(0).value_or(kNull), op.maybe_integer(1).value_or(kNull)};
      }
      TickTimes& group =
          groups[{tasks->device_id, tasks->model_number, at->second.first, at->second.second}];
      const std::int64_t ticks = times.span_ticks(tasks->device_id, tasks->duration_ns);
      group.device = tasks->device_id;
      group.add(ticks);
      group.shown += times.shown_ns(tasks->device_id, tasks->start_ns, tasks->duration_ns);
      whole += ticks;
    }
    write_groups(db, times, groups, whole, out);
  }

 private:
  template <typename Groups>
  static void write_groups(const Database& db, const old::OldTimes& times, const Groups& groups,
                           int128 whole, RowBuilder& out) {
    const bool has_steps = old::has_steps(db);
    const old::ModelNames models(db);
    cann::Texts texts(db);
    std::vector<const typename Groups::value_type*> rows;
    for (const auto& row : groups) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.shown > b->second.shown;
    });
    for (const auto* row : rows) {
      const TickTimes& group = row->second;
      const auto us = [&](int128 ticks, std::int64_t parts = 1) {
        out.number(times.ticks_to_us(group.device, ticks, parts));
      };
      if (has_steps) models.write(out, std::get<1>(row->first));
      cann::text_or_missing(out, texts, given(std::get<2>(row->first)));
      cann::text_or_missing(out, texts, given(std::get<3>(row->first)));
      out.number(group.count);
      us(group.total);
      us(group.shortest);
      us(group.total, group.count);
      us(group.longest);
      out.number(cann::format_percent(group.total, whole, 6));
      out.end_row();
    }
  }
};

// The tables of that time quote the number within the cell.
std::string quoted(const std::string& digits) {
  return '"' + digits + '"';
}

class OldTaskTime : public cann::CannTable {
 public:
  OldTaskTime()
      : CannTable({.name = "task_time",
                   .title = "Task time",
                   .help = "start, end and kernel of every task on the device",
                   .exists = "SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL"},
                  {"kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)",
                   "task_start(ns)", "task_stop(ns)"}) {}

  std::vector<std::string> columns(const Database& db) const override {
    if (!old::is_310(db)) return CannTable::columns(db);
    return {"Time(%)",     "Time(us)",    "Count", "Avg(us)", "Min(us)", "Max(us)", "Waiting(us)",
            "Running(us)", "Pending(us)", "Type",  "API",     "Task ID", "Op Name", "Stream ID"};
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    old::is_310(db) ? write_310(db, output_file.scope, out) : write_910(db, output_file.scope, out);
  }

 private:
  // Writes the tasks of the scheduler's log, without those that only AI CPUs recorded; copies are
  // last.
  static void write_910(const Database& db, const ExportScope& scope, RowBuilder& out) {
    const old::OldTimes times(db);
    cann::Texts texts(db);
    const std::int64_t cpu = cann::find_name_id(db, "AI_CPU");
    const std::int64_t copy = cann::find_name_id(db, "MEMCPY_ASYNC");
    const std::int64_t collective = cann::find_name_id(db, "HCCL");
    const bool has_steps = old::has_steps(db);
    for (const bool is_copies : {false, true}) {
      cann::TaskCursor tasks(db, scope,
                             {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
                              &TaskRow::device_type_name_id, &TaskRow::kernel_name_id},
                             {}, cann::TaskWindow::any);
      while (tasks.next()) {
        if ((tasks->device_type_name_id == copy) != is_copies) continue;
        if (tasks->device_type_name_id == cpu || tasks->device_type_name_id == collective ||
            tasks->device_type_name_id == kNull)
          continue;
        const old::Exact start = times.device_ns(tasks->device_id, tasks->start_ns);
        const old::Exact length = times.span_ns(tasks->device_id, tasks->duration_ns);
        cann::text_or_missing(out, texts, given(tasks->kernel_name_id));
        out.text(is_copies ? "other" : has_steps ? "KERNEL_AICORE" : "AI_CORE");
        out.number(tasks->stream_id);
        out.number(tasks->task_number);
        out.text(quoted(length.digits(6, 1000)));
        out.text(quoted(start.digits(3)));
        out.text(quoted(cann::trimmed(start.numerator + length.numerator, start.denominator, 3)));
        out.end_row();
      }
    }
  }

  // Groups repeated executions of the same task into one row, longest total time first.
  static void write_310(const Database& db, const ExportScope& scope, RowBuilder& out) {
    struct Sum {
      TickTimes times;
      std::int64_t name = kNull;
      std::optional<int128> waiting, pending;
    };
    // Type, task, stream, batch, operator.
    using TickGroupKey =
        std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    const old::OldTimes times(db);
    const std::int64_t cpu = cann::find_name_id(db, "AI_CPU");
    std::map<TickGroupKey, Sum> sums;
    Statement waits =
        db.prepare("SELECT task_id, waiting_ns, pending_ns FROM task_wait ORDER BY task_id");
    bool has_wait = waits.step();
    int128 whole = 0;
    cann::TaskCursor tasks(
        db, scope,
        {&TaskRow::id, &TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
         &TaskRow::batch, &TaskRow::device_type_name_id, &TaskRow::kernel_name_id},
        {}, cann::TaskWindow::any);
    while (tasks.next()) {
      if (tasks->device_type_name_id == cpu || tasks->device_type_name_id == kNull) continue;
      Sum& sum = sums[{tasks->device_type_name_id, tasks->task_number, tasks->stream_id,
                       tasks->batch, tasks->kernel_name_id}];
      const std::int64_t ticks = times.span_ticks(tasks->device_id, tasks->duration_ns);
      sum.times.device = tasks->device_id;
      sum.times.add(ticks);
      sum.times.shown += times.shown_ns(tasks->device_id, tasks->start_ns, tasks->duration_ns);
      sum.name = tasks->kernel_name_id;
      whole += ticks;
      while (has_wait && waits.integer(0) < tasks->id) has_wait = waits.step();
      if (!has_wait || waits.integer(0) != tasks->id) continue;
      const auto add = [&](std::optional<int128>& to, int cell) {
        if (waits.is_null(cell)) return;
        to = to.value_or(0) + times.span_ticks(tasks->device_id, waits.integer(cell));
      };
      add(sum.waiting, 1);
      add(sum.pending, 2);
    }
    std::vector<const std::pair<const TickGroupKey, Sum>*> rows;
    for (const auto& row : sums) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.times.shown > b->second.times.shown;
    });
    cann::Texts texts(db);
    for (const auto* row : rows) {
      const Sum& sum = row->second;
      const auto us = [&](int128 ticks, std::int64_t parts = 1) {
        out.number(times.ticks_to_us(sum.times.device, ticks, parts));
      };
      out.number(cann::format_percent(sum.times.total, whole, 6));
      us(sum.times.total);
      out.number(sum.times.count);
      us(sum.times.total, sum.times.count);
      us(sum.times.shortest);
      us(sum.times.longest);
      sum.waiting ? us(*sum.waiting) : out.missing();
      us(sum.times.total);
      sum.pending ? us(*sum.pending) : out.missing();
      cann::text_or_missing(out, texts, std::get<0>(row->first));
      out.text("");
      out.number(std::get<1>(row->first));
      cann::text_or_missing(out, texts, given(sum.name));
      out.number(std::get<2>(row->first));
      out.end_row();
    }
  }
};

// Times are device ticks; missing values are N/A.
class OldStepTrace : public cann::CannTable {
 public:
  OldStepTrace()
      : CannTable(
            {.name = "step_trace",
             .title = "Step trace",
             .help = "iterations of models: forward, backward and reduce times",
             .exists = "SELECT 1 FROM iteration"},
            {"Iteration ID", "FP Start", "BP End", "Iteration End", "Iteration Time(us)",
             "FP to BP Time(us)", "Grad Refresh Bound(us)", "Data Aug Bound(us)", "Model ID"}) {}

  // Adds reduce columns for the row with the most reduces.
  std::vector<std::string> columns(const Database& db) const override {
    auto all = CannTable::columns(db);
    for (std::int64_t left = cann::most_reduces(db); left > 0; --left) {
      all.emplace_back("Reduce Start");
      all.emplace_back("Reduce Duration(us)");
    }
    return all;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const old::OldTimes times(db);
    const std::size_t reduces = (columns(db).size() - CannTable::columns(db).size()) / 2;
    const ScopeFilter scope(output_file.scope);
    std::map<std::int64_t, std::vector<std::int64_t>> ends;
    Statement all_ends = db.prepare(
        "SELECT device_id, end_ns FROM iteration WHERE end_ns IS NOT NULL ORDER BY device_id, "
        "end_ns");
    while (all_ends.step()) ends[all_ends.integer(0)].push_back(all_ends.integer(1));
    Statement read = db.prepare(
        "SELECT id, device_id, number, start_ns, fp_start_ns, bp_end_ns, end_ns, model_number"
        " FROM iteration WHERE is_framework_step = 0 ORDER BY id");
    cann::Reduces parts(db,
                        " AND is_framework_step = 0 ORDER BY iteration.id, part.start_ns, part.id");
    while (read.step()) {
      const std::int64_t id = read.integer(0);
      const std::int64_t device = read.integer(1);
      if (!scope.takes_device(device)) {
        parts.skip(id);
        continue;
      }
      const auto moment = [&](std::optional<std::int64_t> ns) {
        ns ? out.number(times.ticks(device, *ns)) : out.missing();
      };
      const auto span = [&](std::optional<std::int64_t> from, std::optional<std::int64_t> to) {
        if (!from || !to) return out.missing();
        const std::int64_t ticks = times.ticks(device, *to) - times.ticks(device, *from);
        out.number(times.ticks_to_us(device, ticks));
      };
      const auto start = read.maybe_integer(3);
      const auto forward = read.maybe_integer(4);
      const auto backward = read.maybe_integer(5);
      const auto end = read.maybe_integer(6);
      out.number(read.integer(2));
      moment(forward);
      moment(backward);
      moment(end);
      span(start, end);
      span(forward, backward);
      span(backward, end);
      span(find_end_before(ends[device], forward), forward);
      out.number_or_missing(read.maybe_integer(7));
      auto left = static_cast<std::int64_t>(reduces);
      parts.for_each(id, [&](auto part_start, auto part_end) {
        moment(part_start);
        span(part_start, part_end);
        --left;
      });
      for (; left > 0; --left) {
        out.missing();
        out.missing();
      }
      out.end_row();
    }
  }

 private:
  // Returns the last end of an iteration before `moment`.
  static std::optional<std::int64_t> find_end_before(const std::vector<std::int64_t>& ends,
                                                     std::optional<std::int64_t> moment) {
    if (!moment) return std::nullopt;
    const auto at = std::lower_bound(ends.begin(), ends.end(), *moment);
    return at == ends.begin() ? std::nullopt : std::optional(*(at - 1));
  }
};

class OldAicpu : public cann::CannTable {
 public:
  OldAicpu()
      : CannTable({.name = "aicpu",
                   .title = "AI CPU",
                   .help = "nodes that the AI CPUs ran: compute, copy and dispatch time",
                   .exists = "SELECT 1 FROM aicpu_node"},
                  {"Timestamp", "Node", "Compute_time(ms)", "Memcpy_time(ms)", "Task_time(ms)",
                   "Dispatch_time(ms)", "Total_time(ms)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const old::OldTimes times(db);
    const ScopeFilter scope(output_file.scope);
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, start_ns, end_ns, op_name_id, compute_us, memcpy_us, dispatch_us,"
        " total_ns FROM aicpu_node ORDER BY id");
    while (read.step()) {
      const std::int64_t device = read.integer(0);
      if (!scope.takes(device, read.integer(1), read.integer(2))) continue;
      const old::Exact start = times.device_ns(device, read.integer(1));
      const std::int64_t ticks =
          times.ticks(device, read.integer(2)) - times.ticks(device, read.integer(1));
      const auto ms_of_us = [&](int cell) {
        const auto us = read.maybe_integer(cell);
        us ? out.number(cann::trimmed(*us, 1000, 6)) : out.missing();
      };
      out.number(start.digits(9, 1'000'000));
      cann::text_or_missing(out, texts, read.maybe_integer(3));
      ms_of_us(4);
      ms_of_us(5);
      out.number(times.ticks_to_ms(device, ticks));
      ms_of_us(6);
      const auto total = read.maybe_integer(7);
      total ? out.number(cann::trimmed(*total, 1'000'000, 6)) : out.missing();
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_op_statistic() {
  return std::make_unique<OldOpStatistic>();
}
std::unique_ptr<SummaryTable> make_old_task_time() {
  return std::make_unique<OldTaskTime>();
}
std::unique_ptr<SummaryTable> make_old_step_trace() {
  return std::make_unique<OldStepTrace>();
}
std::unique_ptr<SummaryTable> make_old_aicpu() {
  return std::make_unique<OldAicpu>();
}

}  // namespace msprof
