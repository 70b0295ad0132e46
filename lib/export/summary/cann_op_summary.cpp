// op_summary: one row per execution of an operator and one per collective, with the load of the
// cores.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/number.hpp"
#include "base/recent_map.hpp"
#include "derive/pmu_metrics.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cann {

// Formats the op_summary cells of an operator once for all its tasks.

namespace {

enum OpCell : std::size_t {
  kName,
  kType,
  kUnit,
  kDynamic,
  kBlockNum,
  kMixBlockNum,
  kHf32,
  kFirstTensor,  // input shapes, types, formats; output shapes, types, formats
};
constexpr std::size_t kTensorCells = 6;

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> others) {
  return std::find(others.begin(), others.end(), text) != others.end();
}

class OpSummaryCells {
 public:
  static constexpr std::size_t kCells = 13;
  struct Op {
    std::array<std::int64_t, kCells> cells{};  // numbers and text ids; kNull: no value
    bool is_printed = true;                    // false for collectives and pseudo-operators
    bool has_counters = true;                  // false for operators that never run on the cores
    std::int64_t block_num = 0;
    std::int64_t mix_block_num = 0;
    SharedCells front;  // Op Name … Task Type
    SharedCells back;   // Block Num … Output Formats
  };

  OpSummaryCells(const Database& db, bool has_mix);

  // Valid until the next call. Throws for an unknown operator.
  Op& find(std::int64_t op_id);

  void write_front(RowBuilder& out, Op& op);
  void write_back(RowBuilder& out, Op& op);
  std::size_t back_cells() const { return has_mix_ ? 9 : 8; }

 private:
  Op load(std::int64_t op_id);

  // Operators beyond this number are formatted repeatedly instead of being cached.
  static constexpr std::size_t kMaxOps = 1 << 15;

  const Database& db_;
  bool has_mix_;
  Texts texts_;
  Statement read_;
  RecentMap<std::int64_t, Op, kMaxOps> known_;
};

OpSummaryCells::OpSummaryCells(const Database& db, bool has_mix)
    : db_(db),
      has_mix_(has_mix),
      texts_(db),
      read_(db.prepare(
          "SELECT name_id, type_name_id, unit_name_id, is_dynamic, block_num, mix_block_num,"
          " hf32_eligible, input_shapes_name_id, input_types_name_id, input_formats_name_id,"
          " output_shapes_name_id, output_types_name_id, output_formats_name_id"
          " FROM op WHERE id = ?")) {}

OpSummaryCells::Op& OpSummaryCells::find(std::int64_t op_id) {
  return known_.get(op_id, [this](std::int64_t id) { return load(id); });
}

OpSummaryCells::Op OpSummaryCells::load(std::int64_t op_id) {
  Op op;
  read_.reset();
  read_.bind(1, op_id);
  if (!read_.step()) throw db_.damaged("a task refers to a missing operator");
  for (std::size_t i = 0; i < kCells; ++i)
    op.cells[i] = read_.maybe_integer(static_cast<int>(i)).value_or(kNull);
  const std::string unit = op.cells[kUnit] == kNull ? "N/A" : texts_(op.cells[kUnit]);
  op.is_printed = !is_any_of(unit, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
  // Collectives have separate rows, except kernels that run on the vector cores.
  if (unit == "COMMUNICATION") {
    op.is_printed = op.cells[kName] != kNull && texts_(op.cells[kName]).ends_with("AivKernel");
  }
  op.has_counters = !is_any_of(unit, {"AI_CPU", "DSA_SQE", "DVPP"});
  op.block_num = given(op.cells[kBlockNum]).value_or(0);
  op.mix_block_num = given(op.cells[kMixBlockNum]).value_or(0);
  return op;
}

void OpSummaryCells::write_front(RowBuilder& out, Op& op) {
  out.repeated(op.front, [&] {
    text_or_missing(out, texts_, given(op.cells[kName]));
    text_or_missing(out, texts_, given(op.cells[kType]));
    const auto dynamic = given(op.cells[kDynamic]);
    dynamic ? out.text(*dynamic != 0 ? "dynamic" : "static") : out.missing();
    text_or_missing(out, texts_, given(op.cells[kUnit]));
  });
}

void OpSummaryCells::write_back(RowBuilder& out, Op& op) {
  out.repeated(op.back, [&] {
    out.number_or_missing(given(op.cells[kBlockNum]));
    if (has_mix_) out.number_or_missing(given(op.cells[kMixBlockNum]));
    const auto hf32 = given(op.cells[kHf32]);
    hf32 ? out.text(*hf32 != 0 ? "YES" : "NO") : out.missing();
    for (std::size_t tensor = 0; tensor < kTensorCells; ++tensor) {
      const auto id = given(op.cells[kFirstTensor + tensor]);
      const bool is_shapes = tensor % 3 == 0;
      if (!id) {
        out.missing();
      } else if (is_shapes && texts_(*id) != "N/A") {
        // Quotes are part of the text, so that a spreadsheet does not read a shape as a number.
        out.text('"' + texts_(*id) + '"');
      } else {
        out.text(texts_(*id));
      }
    }
  });
}

constexpr std::string_view kMix = "Mix Block Num";
constexpr std::string_view kContext = "Context ID";

// Reads collectives by device and start, the order of the tasks.
class CollectiveNames {
 public:
  CollectiveNames(const Database& db, const ExportScope& scope)
      : scope_(scope),
        read_(db.prepare("SELECT device_id, start_ns, end_ns, comm_op.model_number,"
                         " comm_op.name_id, op_type_name_id FROM comm_op LEFT JOIN comm_call ON"
                         " comm_call.id = first_comm_call_id WHERE start_ns >= ?"
                         " ORDER BY comm_op.id")) {
    read_.bind(1, cann::window_begin_ns(db));
  }
  bool next() {
    while (read_.step()) {
      if (scope_.takes(device(), start_ns(), read_.integer(2)) &&
          scope_.takes_model(read_.maybe_integer(3))) {
        return true;
      }
    }
    return false;
  }
  std::int64_t device() const { return read_.integer(0); }
  std::int64_t start_ns() const { return read_.integer(1); }
  std::int64_t duration_ns() const {
    return saturating_subtract(read_.integer(2), read_.integer(1));
  }
  std::int64_t model() const { return read_.maybe_integer(3).value_or(kInvalidId); }
  std::optional<std::int64_t> name_id() const { return read_.maybe_integer(4); }
  std::optional<std::int64_t> type_id() const { return read_.maybe_integer(5); }

 private:
  ScopeFilter scope_;
  Statement read_;
};

class OpSummaryWriter {
 public:
  // Requires that begin() of `out` was called; metrics are the columns from `first_metric` on.
  OpSummaryWriter(const Database& db, const OutputFile& output_file, std::size_t first_metric,
                  RowBuilder& out)
      : db_(db),
        scope_(output_file.scope),
        out_(out),
        has_stars_(cann::has_stars(db)),
        metrics_(db),
        values_(metrics_.columns().size()),
        ops_(db, has_stars_),
        texts_(db),
        counters_(db) {
    std::vector<bool> is_read;
    for (std::size_t i = 0; i < values_.size(); ++i) is_read.push_back(out.reads(first_metric + i));
    metrics_.evaluate_only(is_read);
  }

  void write() {
    cann::TaskCursor tasks(
        db_, scope_,
        {&TaskRow::id, &TaskRow::device_id, &TaskRow::model_number, &TaskRow::task_number,
         &TaskRow::stream_id, &TaskRow::context, &TaskRow::op_id},
        {.not_null = {&TaskRow::op_id, &TaskRow::device_type_name_id}});
    CollectiveNames collectives(db_, scope_);
    bool more_tasks = tasks.next();
    bool more_collectives = collectives.next();
    while (more_tasks || more_collectives) {
      const bool is_task = more_tasks && (!more_collectives || !is_before(collectives, *tasks));
      if (is_task) {
        write_task(*tasks);
        more_tasks = tasks.next();
      } else {
        write_collective(collectives);
        more_collectives = collectives.next();
      }
    }
  }

 private:
  static bool is_before(const CollectiveNames& a, const TaskRow& b) {
    return a.device() != b.device_id ? a.device() < b.device_id : a.start_ns() < b.start_ns;
  }

  void write_task(const TaskRow& task) {
    cann::OpSummaryCells::Op& op = ops_.find(task.op_id);
    if (!op.is_printed) return;
    out_.number(task.device_id);
    out_.number(given(task.model_number).value_or(kInvalidId));
    out_.number(task.task_number);
    out_.number(task.stream_id);
    ops_.write_front(out_, op);
    write_times(task.device_id, task.start_ns, task.duration_ns);
    ops_.write_back(out_, op);
    if (has_stars_) out_.number_or_missing(given(task.context));
    const std::int64_t* counters = op.has_counters ? counters_.find(task.id) : nullptr;
    counters == nullptr ? write_no_counters()
                        : write_counters(task.device_id, {counters, op.block_num, op.mix_block_num,
                                                          task.duration_ns});
    out_.end_row();
  }

  void write_collective(const CollectiveNames& op) {
    out_.number(op.device());
    out_.number(op.model());
    out_.missing();
    out_.missing();
    cann::text_or_missing(out_, texts_, op.name_id());
    cann::text_or_missing(out_, texts_, op.type_id());
    out_.missing();
    out_.text("COMMUNICATION");
    write_times(op.device(), op.start_ns(), op.duration_ns());
    out_.number(std::int64_t{0});
    const std::size_t rest = ops_.back_cells() - 1 + (has_stars_ ? 1 : 0);
    for (std::size_t i = 0; i < rest; ++i) out_.missing();
    write_no_counters();
    out_.end_row();
  }

  // Writes start, duration and the preceding idle time of the device: six decimals, but "0" in the
  // first row.
  void write_times(std::int64_t device, std::int64_t start_ns, std::int64_t duration_ns) {
    cann::us_timestamp(out_, start_ns);
    cann::us_number(out_, duration_ns);
    if (is_first_row_) {
      out_.number("0");
    } else {
      const std::int64_t wait =
          device == last_device_
              ? std::max<std::int64_t>(0, saturating_subtract(start_ns, last_end_ns_))
              : 0;
      out_.number(wait, CellForm::us6);
    }
    is_first_row_ = false;
    last_device_ = device;
    last_end_ns_ = saturating_add(start_ns, duration_ns);
  }

  void write_no_counters() {
    for (std::size_t i = 0; i < values_.size(); ++i) out_.missing();
  }

  void write_counters(std::int64_t device, const PmuTask& task) {
    metrics_.evaluate(device, task, values_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      write_value(metrics_.columns()[i].unit, values_[i], task.duration_ns);
    }
  }

  // Number formats: cann_device.md 15.1.
  void write_value(PmuUnit unit, double value, std::int64_t duration_ns) {
    if (std::isnan(value)) return out_.missing();
    if (unit == PmuUnit::cycles) return out_.number(static_cast<std::int64_t>(value));
    if (unit == PmuUnit::percent && duration_ns == 0) return out_.number(std::int64_t{0});
    out_.real(value, unit == PmuUnit::percent ? CellForm::fixed3 : CellForm::sqlite_round3);
  }

  const Database& db_;
  const ExportScope& scope_;
  RowBuilder& out_;
  bool has_stars_;
  PmuMetrics metrics_;
  std::vector<double> values_;
  cann::OpSummaryCells ops_;
  cann::Texts texts_;
  cann::TaskCounterCursor counters_;
  bool is_first_row_ = true;
  std::int64_t last_device_ = 0;
  std::int64_t last_end_ns_ = 0;
};

class CannOpSummary : public cann::CannTable {
 public:
  CannOpSummary()
      : CannTable({.name = "op_summary",
                   .title = "Op summary",
                   .help = "every execution of an operator: time, shapes, core metrics",
                   .exists = "SELECT 1 FROM task WHERE op_id IS NOT NULL UNION ALL"
                             " SELECT 1 FROM comm_op",
                   .needs = kDeviceLogsAndHost},
                  {"Device_id",
                   "Model ID",
                   "Task ID",
                   "Stream ID",
                   "Op Name",
                   "OP Type",
                   "OP State",
                   "Task Type",
                   "Task Start Time(us)",
                   "Task Duration(us)",
                   "Task Wait Time(us)",
                   "Block Num",
                   std::string(kMix),
                   "HF32 Eligible",
                   "Input Shapes",
                   "Input Data Types",
                   "Input Formats",
                   "Output Shapes",
                   "Output Data Types",
                   "Output Formats",
                   std::string(kContext)}) {}

  std::vector<std::string> columns(const Database& db) const override {
    auto all = columns_before_metrics(db);
    const PmuMetrics metrics(db);
    for (const PmuColumn& column : metrics.columns()) all.push_back(column.name);
    return all;
  }

  std::vector<std::string> unit_loads(const Database& db) const override {
    std::vector<std::string> counters;
    const PmuMetrics metrics(db);
    for (const PmuColumn& column : metrics.columns()) counters.push_back(column.name);
    return counters;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    OpSummaryWriter(db, output_file, columns_before_metrics(db).size(), out).write();
  }

 private:
  std::vector<std::string> columns_before_metrics(const Database& db) const {
    auto names = CannTable::columns(db);
    if (!cann::has_stars(db)) {
      std::erase_if(names, [](const auto& name) { return name == kMix || name == kContext; });
    }
    return names;
  }
};

}  // namespace

}  // namespace msprof::cann

namespace msprof {

std::unique_ptr<SummaryTable> make_cann_op_summary() {
  return std::make_unique<cann::CannOpSummary>();
}

}  // namespace msprof
