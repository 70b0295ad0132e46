// op_summary of CANN 5: one row per execution of an operator, with its iteration. If the capture
// has no operator descriptions of the graph engine: one row per core task with counters. Source:
// cann5_classic.md 10.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "derive/pmu_metrics.hpp"
#include "export/old/tables.hpp"

namespace msprof {

namespace {

struct OpCells {
  std::string name, type, unit, blocks;
  std::array<std::optional<std::string>, 6> tensors;
  bool is_on_cpu = false;
};

class OpTexts {
 public:
  explicit OpTexts(const Database& db)
      : texts_(db),
        read_(db.prepare(
            "SELECT name_id, type_name_id, unit_name_id, block_num, input_shapes_name_id,"
            " input_types_name_id, input_formats_name_id, output_shapes_name_id,"
            " output_types_name_id, output_formats_name_id FROM op WHERE id = ?")) {}

  const OpCells& find(std::int64_t op_id) {
    constexpr std::size_t kMaxOps = 1 << 15;
    const auto known = known_.find(op_id);
    if (known != known_.end()) return known->second;
    if (known_.size() >= kMaxOps) known_.clear();
    OpCells& op = known_[op_id];
    read_.reset();
    read_.bind(1, op_id);
    if (!read_.step()) return op;
    const auto text = [&](int cell) {
      const auto id = read_.maybe_integer(cell);
      return id ? texts_(*id) : std::string("N/A");
    };
    op.name = text(0);
    op.type = text(1);
    op.unit = text(2);
    op.is_on_cpu = op.unit == "AI_CPU";
    if (const auto blocks = read_.maybe_integer(3)) op.blocks = std::to_string(*blocks);
    for (std::size_t i = 0; i < op.tensors.size(); ++i) {
      const auto id = read_.maybe_integer(static_cast<int>(i) + 4);
      if (id) op.tensors[i] = i % 3 == 0 ? '"' + texts_(*id) + '"' : texts_(*id);
    }
    return op;
  }

 private:
  cann::Texts texts_;
  Statement read_;
  std::unordered_map<std::int64_t, OpCells> known_;
};

// The columns, some of which depend on the capture.
struct Shape {
  explicit Shape(const Database& db)
      : has_ops(old::has_operators(db)), has_steps(old::has_steps(db)), metrics(db) {
    const bool is_310 = old::is_310(db);
    for (std::size_t i = 0; i < metrics.columns().size(); ++i) {
      const std::string& name = metrics.columns()[i].name;
      // Times of pipes are computed from the core's time, which requires the number of blocks.
      const bool is_time = name.ends_with("time(us)");
      const bool is_of_core = name == "aicore_time(us)" && is_310;
      if (name != "cube_utilization(%)" && (has_ops || !is_time || is_of_core))
        counters.push_back(i);
    }
  }

  bool has_ops;
  bool has_steps;
  PmuMetrics metrics;
  std::vector<std::size_t> counters;  // indexes into the metrics
};

class OldSummaryWriter {
 public:
  OldSummaryWriter(const Database& db, const OutputFile& output_file, RowBuilder& out)
      : db_(db),
        scope_(output_file.scope),
        out_(out),
        shape_(db),
        values_(shape_.metrics.columns().size()),
        ops_(db),
        times_(db),
        iterations_(db),
        models_(db),
        counters_(db) {}

  void write() {
    cann::TaskCursor tasks(db_, scope_,
                           {&TaskRow::id, &TaskRow::device_id, &TaskRow::model_number,
                            &TaskRow::task_number, &TaskRow::stream_id, &TaskRow::op_id},
                           {}, cann::TaskWindow::any);
    while (tasks.next()) {
      const std::int64_t* counters = counters_.find(tasks->id);
      const bool has_op = tasks->op_id != kNull;
      if (shape_.has_ops ? has_op : counters != nullptr)
        write_task(*tasks, tasks.end_ns(), counters);
    }
  }

 private:
  void write_task(const TaskRow& task, std::int64_t end_ns, const std::int64_t* counters) {
    const auto* iteration = iterations_.find(task.device_id, end_ns);
    std::int64_t model = task.model_number;
    if (model == kNull && iteration != nullptr) model = iteration->model;
    const OpCells& op = shape_.has_ops ? ops_.find(task.op_id) : none_;
    if (shape_.has_steps) models_.write(out_, model);
    out_.number_or_missing(given(model));
    out_.number(task.task_number);
    out_.number(task.stream_id);
    if (shape_.has_steps) iteration == nullptr ? out_.missing() : out_.number(iteration->number);
    if (shape_.has_ops) {
      out_.text(op.name);
      out_.text(op.type);
    }
    out_.text(shape_.has_ops ? op.unit : "AI_CORE");
    write_times(task);
    if (shape_.has_ops) {
      op.blocks.empty() ? out_.missing() : out_.number(op.blocks);
      for (const auto& tensor : op.tensors) tensor ? out_.text(*tensor) : out_.missing();
    }
    write_counters(task, op, counters);
    out_.end_row();
  }

  void write_times(const TaskRow& task) {
    const old::Exact start = times_.device_ns(task.device_id, task.start_ns);
    const old::Exact length = times_.span_ns(task.device_id, task.duration_ns);
    out_.number(start.digits(3));
    out_.number(length.digits(6, 1000));
    // The wait lasts from the end of the previous row to this start, truncated to whole ns.
    int128 wait = 0;
    int128 end = 0;
    const int128 unit = start.denominator;
    if (last_device_ == task.device_id) wait = start.numerator / unit * unit - last_end_;
    end = start.numerator + length.numerator;
    if (last_device_ != task.device_id || wait < 0) wait = 0;
    out_.number(cann::trimmed(wait, unit * 1000, 6));
    last_device_ = task.device_id;
    last_end_ = end;
  }

  void write_counters(const TaskRow& task, const OpCells& op, const std::int64_t* counters) {
    if (shape_.counters.empty()) return;
    if (counters == nullptr || op.is_on_cpu) {
      for (std::size_t i = 0; i < shape_.counters.size(); ++i) out_.missing();
      return;
    }
    std::uint64_t blocks = 0;
    if (!op.blocks.empty()) blocks = std::stoull(op.blocks);
    shape_.metrics.evaluate(task.device_id,
                            {counters, static_cast<std::int64_t>(blocks), 0, task.duration_ns},
                            values_);
    for (const std::size_t place : shape_.counters) {
      const double value = values_[place];
      if (std::isnan(value)) {
        out_.missing();
      } else if (shape_.metrics.columns()[place].unit == PmuUnit::cycles) {
        out_.number(static_cast<std::int64_t>(value));
      } else {
        out_.number(fixed6(value));
      }
    }
  }

  static std::string fixed6(double value) {
    std::string digits = fmt::format("{:.6f}", value);
    while (digits.back() == '0' && digits[digits.size() - 2] != '.') digits.pop_back();
    return digits;
  }

  const Database& db_;
  const ExportScope& scope_;
  RowBuilder& out_;
  Shape shape_;
  std::vector<double> values_;
  OpTexts ops_;
  OpCells none_;
  old::OldTimes times_;
  old::OldIterations iterations_;
  old::ModelNames models_;
  cann::TaskCounterCursor counters_;
  std::int64_t last_device_ = kNull;
  int128 last_end_ = 0;  // in units of the device's clock
};

class OldOpSummary : public cann::CannTable {
 public:
  OldOpSummary()
      : CannTable({.name = "op_summary",
                   .title = "Op summary",
                   .help = "every execution of an operator: time, shapes, core metrics",
                   .exists = "SELECT 1 FROM task"},
                  {}) {}

  std::vector<std::string> columns(const Database& db) const override {
    const Shape shape(db);
    std::vector<std::string> all;
    const auto add = [&](bool is_there, std::initializer_list<const char*> names) {
      if (is_there) all.insert(all.end(), names.begin(), names.end());
    };
    add(shape.has_steps, {"Model Name"});
    add(true, {"Model ID", "Task ID", "Stream ID"});
    add(shape.has_steps, {"Infer ID"});
    add(shape.has_ops, {"Op Name", "OP Type"});
    add(true, {"Task Type", "Task Start Time", "Task Duration(us)", "Task Wait Time(us)"});
    add(shape.has_ops, {"Block Dim", "Input Shapes", "Input Data Types", "Input Formats",
                        "Output Shapes", "Output Data Types", "Output Formats"});
    for (const std::size_t place : shape.counters)
      all.push_back(shape.metrics.columns()[place].name);
    return all;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    OldSummaryWriter(db, output_file, out).write();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_old_op_summary() {
  return std::make_unique<OldOpSummary>();
}

}  // namespace msprof
