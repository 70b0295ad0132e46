// Tables of captures of 2019 to 2021: framework, runs, op_time, op_type, pmu, step_trace, reduce,
// aicpu, aicpu_threads, queue, dp, runtime_track, counts. Moments are ticks of the device or us of
// its clock, as they were recorded. Source: cann5_classic.md 9, 10.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number.hpp"
#include "base/text.hpp"
#include "export/products.hpp"
#include "export/summary/old_tables.hpp"

namespace msprof {

namespace {

using Columns = std::vector<std::string>;
using Write = void (*)(const Database& db, const ExportScope& scope, RowSink& out);

class ClassicTable : public cann::Table {
 public:
  ClassicTable(const TableInfo& info, Columns columns, Write function)
      : Table(info, std::move(columns)), write_(function) {}
  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    write_(db, output_file.scope, out);
  }

 private:
  Write write_;
};

void text_or_nothing(RowSink& out, cann::Texts& texts, std::optional<std::int64_t> id) {
  id ? out.text(texts(*id)) : out.text("");
}
void number_or_nothing(RowSink& out, std::optional<std::int64_t> value) {
  value ? out.number(*value) : out.text("");
}

std::string last_part(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

// Only of names that MindSpore made.
std::string sub_graph(const std::string& name) {
  const std::string first = name.substr(0, name.find('/'));
  return first == "Default" || first == "Gradients" ? first : "";
}

// "input_0 NC1HWC0 NUMBER_TYPE_FLOAT32 [1,2]; output_0 …"
std::string tensors_of(cann::Texts& texts, const Statement& row, int first) {
  std::string all;
  for (const int side : {0, 1}) {
    const auto text = [&](int cell) {
      const auto id = row.maybe_integer(first + side * 3 + cell);
      return id ? texts(*id) : std::string();
    };
    const std::string shapes = text(0);
    const std::string types = text(1);
    const std::string formats = text(2);
    if (types.empty()) continue;
    const auto shape = split(shapes, ';');
    const auto type = split(types, ';');
    const auto format = split(formats, ';');
    for (std::size_t i = 0; i < type.size(); ++i) {
      if (!all.empty()) all += "; ";
      all += fmt::format("{}_{} {} {} [{}]", side == 0 ? "input" : "output", i,
                         i < format.size() ? format[i] : "", type[i],
                         i < shape.size() ? shape[i] : "");
    }
  }
  return all;
}

void write_framework(const Database& db, const ExportScope& scope, RowSink& out) {
  cann::Texts texts(db);
  Statement read = db.prepare(
      "SELECT device_id, task_number, stream_id, block_num, name_id, type_name_id,"
      " input_shapes_name_id, input_types_name_id, input_formats_name_id, output_shapes_name_id,"
      " output_types_name_id, output_formats_name_id FROM op_task JOIN op ON op.id = op_id"
      " ORDER BY op_task.id");
  while (read.step()) {
    if (!scope.takes_device(read.integer(0))) continue;
    for (int cell = 1; cell <= 3; ++cell) number_or_nothing(out, read.maybe_integer(cell));
    const auto id = read.maybe_integer(4);
    const std::string name = id ? texts(*id) : "";
    const auto type = read.maybe_integer(5);
    const bool is_described = type.has_value();
    out.text(name);
    out.text(is_described ? last_part(name) : "");
    text_or_nothing(out, texts, type);
    out.text(is_described ? sub_graph(name) : "");
    out.text(tensors_of(texts, read, 6));
    out.end_row();
  }
}

// The runs that an operator has; where no operator is known, all.
template <typename Take>
void for_each_run(const Database& db, const ExportScope& scope, Take&& take) {
  const bool has_ops = cann::has_rows(db, "SELECT 1 FROM op_task");
  cann::TaskCursor tasks(db, scope,
                         {&TaskRow::id, &TaskRow::device_id, &TaskRow::stream_id,
                          &TaskRow::task_number, &TaskRow::kernel_name_id, &TaskRow::op_id},
                         {}, cann::TaskWindow::any);
  while (tasks.next()) {
    if (!has_ops || tasks->op_id != kNull) take(*tasks);
  }
}

void write_runs(const Database& db, const ExportScope& scope, RowSink& out) {
  cann::Texts texts(db);
  const old::Times times(db);
  for_each_run(db, scope, [&](const TaskRow& task) {
    text_or_nothing(out, texts, given(task.kernel_name_id));
    out.number(task.stream_id);
    out.number(task.task_number);
    out.number(times.ticks(task.device_id, task.start_ns));
    out.number(times.span_ticks(task.device_id, task.duration_ns));
    out.end_row();
  });
}

void write_pmu(const Database& db, const ExportScope& scope, RowSink& out) {
  constexpr int kCycles = 1;  // columns of task_pmu, behind the frequency
  constexpr int kSlots = 8;
  cann::Texts texts(db);
  cann::TaskCounters counters(db);
  for_each_run(db, scope, [&](const TaskRow& task) {
    const std::int64_t* values = counters.of(task.id);
    if (values == nullptr) return;
    text_or_nothing(out, texts, given(task.kernel_name_id));
    out.number(task.stream_id);
    out.number(task.task_number);
    for (int i = 0; i <= kSlots; ++i) out.number_or_missing(given(values[kCycles + i]));
    out.end_row();
  });
}

// The runs of an operator; a step has one of its first task.
struct OpTimes {
  std::int64_t device = 0;
  std::int64_t type = kNull;
  std::int64_t stream = 0;
  std::int64_t first_task = 0;
  std::int64_t count = 0;
  std::int64_t count_of_first = 0;
  int128 total = 0;  // ticks
  std::int64_t shortest = INT64_MAX;
  std::int64_t longest = 0;
};

struct OpTimesByName {
  std::map<std::int64_t, OpTimes> by_name;
  std::vector<std::int64_t> order;  // of their first runs

  OpTimesByName(const Database& db, const ExportScope& scope) {
    const old::Times times(db);
    Statement type = db.prepare("SELECT type_name_id FROM op WHERE id = ?");
    for_each_run(db, scope, [&](const TaskRow& task) {
      if (task.op_id == kNull) return;
      const auto [at, is_new] = by_name.try_emplace(task.kernel_name_id);
      OpTimes& op = at->second;
      if (is_new) {
        order.push_back(task.kernel_name_id);
        type.reset();
        type.bind(1, task.op_id);
        op.device = task.device_id;
        op.type = type.step() ? type.maybe_integer(0).value_or(kNull) : kNull;
        op.stream = task.stream_id;
        op.first_task = task.task_number;
      }
      const std::int64_t ticks = times.span_ticks(task.device_id, task.duration_ns);
      ++op.count;
      op.count_of_first += task.task_number == op.first_task ? 1 : 0;
      op.total += ticks;
      op.shortest = std::min(op.shortest, ticks);
      op.longest = std::max(op.longest, ticks);
    });
  }
};

void write_op_time(const Database& db, const ExportScope& scope, RowSink& out) {
  const OpTimesByName ops(db, scope);
  const old::Times times(db);
  cann::Texts texts(db);
  for (const std::int64_t name : ops.order) {
    const OpTimes& op = ops.by_name.at(name);
    text_or_nothing(out, texts, given(name));
    text_or_nothing(out, texts, given(op.type));
    out.number(op.stream);
    out.number(op.first_task);
    out.number(op.count);
    out.number(times.us_of_ticks(op.device, op.total));
    out.number(times.us_of_ticks(op.device, op.shortest));
    out.number(times.us_of_ticks(op.device, op.longest));
    out.number(times.us_of_ticks(op.device, op.total, op.count_of_first));
    out.end_row();
  }
}

void write_op_type(const Database& db, const ExportScope& scope, RowSink& out) {
  struct Type {
    std::int64_t device = 0;
    std::int64_t count = 0;
    int128 total = 0;
    std::int64_t ops = 0;
    double per_step = 0;  // ticks
  };
  const OpTimesByName ops(db, scope);
  const old::Times times(db);
  cann::Texts texts(db);
  std::map<std::int64_t, Type> types;
  for (const auto& [name, op] : ops.by_name) {
    Type& type = types[op.type];
    type.device = op.device;
    type.count += op.count;
    type.total += op.total;
    ++type.ops;
    type.per_step += static_cast<double>(op.total) / static_cast<double>(op.count_of_first);
  }
  std::vector<std::pair<std::int64_t, Type>> rows(types.begin(), types.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  for (const auto& [name, type] : rows) {
    text_or_nothing(out, texts, given(name));
    out.number(type.count);
    out.number(times.us_of_ticks(type.device, type.total));
    out.number(type.ops);
    out.number(fmt::format("{:.6f}", times.shown_us(type.device, type.per_step)));
    out.end_row();
  }
}

void write_step_trace(const Database& db, const ExportScope& scope, RowSink& out) {
  const old::Times times(db);
  Statement read = db.prepare(
      "SELECT device_id, number, start_ns, end_ns, fp_start_ns, bp_end_ns FROM iteration"
      " ORDER BY id");
  while (read.step()) {
    const std::int64_t device = read.integer(0);
    if (!scope.takes_device(device)) continue;
    const auto ticks = [&](int cell) { return times.ticks(device, read.integer(cell)); };
    const std::int64_t start = ticks(2);
    const std::int64_t end = ticks(3);
    const std::int64_t forward = ticks(4);
    const std::int64_t backward = ticks(5);
    for (const std::int64_t value :
         {read.integer(1), start, end, saturating_subtract(end, start), forward, backward,
          saturating_subtract(forward, start), saturating_subtract(backward, forward),
          saturating_subtract(end, backward)})
      out.number(value);
    out.end_row();
  }
}

void write_reduce(const Database& db, const ExportScope& scope, RowSink& out) {
  const old::Times times(db);
  cann::Texts texts(db);
  Statement read = db.prepare(
      "SELECT device_id, iteration.number, stream_id, part.number, type_name_id, part.start_ns,"
      " part.end_ns FROM iteration_part AS part JOIN iteration ON iteration.id = iteration_id"
      " WHERE is_get_next = 0 ORDER BY part.id");
  while (read.step()) {
    const std::int64_t device = read.integer(0);
    if (!scope.takes_device(device)) continue;
    const std::int64_t start = times.ticks(device, read.integer(5));
    const std::int64_t end = times.ticks(device, read.integer(6));
    for (int cell = 1; cell <= 3; ++cell) number_or_nothing(out, read.maybe_integer(cell));
    text_or_nothing(out, texts, read.maybe_integer(4));
    out.number(start);
    out.number(end);
    out.number(saturating_subtract(end, start));
    out.end_row();
  }
}

void write_aicpu(const Database& db, const ExportScope& scope, RowSink& out) {
  cann::Texts texts(db);
  Statement read = db.prepare(
      "SELECT device_id, id, op_name_id, total_ns, dispatch_us, run_start_us, run_end_us"
      " FROM aicpu_node ORDER BY id");
  while (read.step()) {
    if (!scope.takes_device(read.integer(0))) continue;
    const auto ms = [&](int cell, std::int64_t divisor) {
      const auto value = read.maybe_integer(cell);
      value ? out.number(fixed(*value, divisor, 3)) : out.missing();
    };
    out.number(read.integer(1));
    text_or_nothing(out, texts, read.maybe_integer(2));
    ms(3, 1'000'000);
    ms(4, 1000);
    out.number_or_missing(read.maybe_integer(5));
    out.number_or_missing(read.maybe_integer(6));
    out.end_row();
  }
}

void write_aicpu_threads(const Database& db, const ExportScope& scope, RowSink& out) {
  Statement read = db.prepare(
      "SELECT thread, device_id, aicpu_number, top_half_ticks, bottom_half_ticks,"
      " before_run_ticks, after_run_ticks, dispatch_us, total_us FROM aicpu_thread ORDER BY id");
  while (read.step()) {
    if (!scope.takes_device(read.integer(1))) continue;
    for (int cell = 0; cell < 9; ++cell) out.number_or_missing(read.maybe_integer(cell));
    out.end_row();
  }
}

void write_queue(const Database& db, const ExportScope& scope, RowSink& out) {
  cann::Texts texts(db);
  Statement read = db.prepare(
      "SELECT device_id, source_name_id, start_us, end_us, queue_size FROM data_queue"
      " WHERE action_name_id IS NULL ORDER BY id");
  while (read.step()) {
    if (!scope.takes_device(read.integer(0))) continue;
    text_or_nothing(out, texts, read.maybe_integer(1));
    for (int cell = 2; cell < 5; ++cell) out.number_or_missing(read.maybe_integer(cell));
    out.end_row();
  }
}

void write_dp(const Database& db, const ExportScope& scope, RowSink& out) {
  cann::Texts texts(db);
  Statement read = db.prepare(
      "SELECT device_id, start_us, action_name_id, source_name_id, queue_index, queue_size"
      " FROM data_queue WHERE action_name_id IS NOT NULL ORDER BY id");
  while (read.step()) {
    if (!scope.takes_device(read.integer(0))) continue;
    out.number_or_missing(read.maybe_integer(1));
    text_or_nothing(out, texts, read.maybe_integer(2));
    text_or_nothing(out, texts, read.maybe_integer(3));
    out.number_or_missing(read.maybe_integer(4));
    out.number_or_missing(read.maybe_integer(5));
    out.end_row();
  }
}

void write_runtime_track(const Database& db, const ExportScope& scope, RowSink& out) {
  const old::Times times(db);
  cann::Texts texts(db);
  Statement read = db.prepare(
      "SELECT time_ns, event, task_type, stream_id, task_number, thread_id, device_id,"
      " kernel_name_id, is_persistent FROM task_launch ORDER BY id");
  while (read.step()) {
    if (!scope.takes_device(read.integer(6))) continue;
    out.number(times.host_ns(read.integer(0)));
    for (int cell = 1; cell <= 6; ++cell) out.number_or_missing(read.maybe_integer(cell));
    text_or_nothing(out, texts, read.maybe_integer(7));
    out.number_or_missing(read.maybe_integer(8));
    out.end_row();
  }
}

// What the log of the tasks had, and what of it is in no other table.
void write_counts(const Database& db, const ExportScope& scope, RowSink& out) {
  Statement devices = db.prepare("SELECT id FROM device ORDER BY id");
  while (devices.step()) {
    if (!scope.takes_device(devices.integer(0))) continue;
    for (const std::string_view what :
         {"hwts_records", "hwts_other", "tasks_paired", "starts_without_end", "ends_without_start",
          "tasks_without_operator"}) {
      const auto count =
          read_meta_integer(db, fmt::format("old_counts.{}.{}", devices.integer(0), what));
      out.text(what);
      out.number_or_missing(count);
      out.end_row();
    }
  }
}

// `place`: from 20 on behind the tables that CANN 5 has, too.
std::unique_ptr<SummaryTable> table(int place, std::string_view name, std::string_view title,
                                    std::string_view help, std::string_view exists, Columns columns,
                                    Write write) {
  return std::make_unique<ClassicTable>(
      old::info_of(ProductAge::classic, place, name, title, help, exists), std::move(columns),
      write);
}

}  // namespace

std::unique_ptr<SummaryTable> make_classic_step_trace() {
  return table(3, "step_trace", "Step trace", "steps, in ticks of the device",
               "SELECT 1 FROM iteration",
               {"step_num", "start_point", "end_point", "total", "fp_point", "bp_point",
                "iteration_interval", "fp_and_bp", "tail"},
               write_step_trace);
}
std::unique_ptr<SummaryTable> make_classic_aicpu() {
  return table(9, "aicpu", "AI CPU", "what the AI CPUs ran", "SELECT 1 FROM aicpu_node",
               {"serial_number", "node", "total_time(ms)", "dispatch_time(ms)", "run_start(us)",
                "run_end(us)"},
               write_aicpu);
}
std::unique_ptr<SummaryTable> make_classic_dp() {
  return table(10, "dp", "Data pipeline", "what the data pipeline handed to each device",
               "SELECT 1 FROM data_queue WHERE action_name_id IS NOT NULL",
               {"timestamp(us)", "action", "source", "index", "size"}, write_dp);
}
std::unique_ptr<SummaryTable> make_classic_framework() {
  return table(20, "framework", "Operators", "operators as the graph engine described them",
               "SELECT 1 FROM op_task",
               {"task_id", "stream_id", "block_dim", "full_op_name", "op_name", "op_type",
                "subgraph", "tensors"},
               write_framework);
}
std::unique_ptr<SummaryTable> make_classic_runs() {
  return table(
      21, "runs", "Runs", "every run of an operator, in ticks of the device", "SELECT 1 FROM task",
      {"full_op_name", "stream_id", "task_id", "start(10ns)", "duration(10ns)"}, write_runs);
}
std::unique_ptr<SummaryTable> make_classic_op_time() {
  return table(22, "op_time", "Times of operators", "the runs of each operator added up",
               "SELECT 1 FROM task WHERE op_id IS NOT NULL",
               {"full_op_name", "op_type", "stream_id", "first_task_id", "count", "total(us)",
                "min(us)", "max(us)", "per_step(us)"},
               write_op_time);
}
std::unique_ptr<SummaryTable> make_classic_op_type() {
  return table(23, "op_type", "Times of types", "the runs of each type of operator added up",
               "SELECT 1 FROM task WHERE op_id IS NOT NULL",
               {"op_type", "count", "total(us)", "ops", "per_step(us)"}, write_op_type);
}
std::unique_ptr<SummaryTable> make_classic_pmu() {
  return table(24, "pmu", "Counters", "the counters of the cores, a row a run",
               "SELECT 1 FROM task_pmu",
               {"full_op_name", "stream_id", "task_id", "total_cycles", "pmu0", "pmu1", "pmu2",
                "pmu3", "pmu4", "pmu5", "pmu6", "pmu7"},
               write_pmu);
}
std::unique_ptr<SummaryTable> make_classic_reduce() {
  return table(25, "reduce", "Reduces", "the reduces of each step",
               "SELECT 1 FROM iteration_part WHERE is_get_next = 0",
               {"step_num", "stream_id", "number", "type", "start_point", "end_point", "duration"},
               write_reduce);
}
std::unique_ptr<SummaryTable> make_classic_aicpu_threads() {
  return table(26, "aicpu_threads", "Threads of AI CPUs",
               "what the driver said of each task of an AI CPU", "SELECT 1 FROM aicpu_thread",
               {"thread", "device", "aicpu", "tickDrvTopHalf", "tickDrvBottomHalf", "tickBeforeRun",
                "tickAfterRun", "dispatchTime(us)", "totalTime(us)"},
               write_aicpu_threads);
}
std::unique_ptr<SummaryTable> make_classic_queue() {
  return table(27, "queue", "Queues", "how long nodes waited for data",
               "SELECT 1 FROM data_queue WHERE action_name_id IS NULL",
               {"node", "start(us)", "end(us)", "queue_size"}, write_queue);
}
std::unique_ptr<SummaryTable> make_classic_runtime_track() {
  return table(28, "runtime_track", "Launches", "tasks as the runtime launched them",
               "SELECT 1 FROM task_launch",
               {"timestamp", "event", "task_type", "stream_id", "task_id", "thread", "device",
                "kernel", "persistent"},
               write_runtime_track);
}
std::unique_ptr<SummaryTable> make_classic_counts() {
  return table(29, "counts", "Counts", "what the log of the tasks had",
               "SELECT 1 FROM meta WHERE key LIKE 'old\\_counts.%' ESCAPE '\\'", {"what", "n"},
               write_counts);
}

}  // namespace msprof
