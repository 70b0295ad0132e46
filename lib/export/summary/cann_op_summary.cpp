// op_summary: one row per execution of an operator and one per collective, with the load of the
// cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "base/recent_map.hpp"
#include "derive/pmu_metrics.hpp"
#include "export/ordered_chunks.hpp"
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
  struct Op {
    bool is_printed = true;    // false for collectives and pseudo-operators
    bool has_counters = true;  // false for operators that never run on the cores
    std::int64_t block_num = 0;
    std::int64_t mix_block_num = 0;
    CellList front;  // Op Name … Task Type
    CellList back;   // Block Num … Output Formats
  };

  OpSummaryCells(const Database& db, bool has_mix);

  // Valid until the next call. Throws for an unknown operator.
  const Op& find(std::int64_t op_id);

  std::size_t back_cells() const { return has_mix_ ? 9 : 8; }

 private:
  static constexpr std::size_t kColumns = 13;
  // By OpCell: numbers and text ids; empty: no value.
  using Columns = std::array<std::optional<std::int64_t>, kColumns>;

  Op load(std::int64_t op_id);
  void add_front(CellList& cells, const Columns& op);
  void add_back(CellList& cells, const Columns& op);

  // Operators beyond these limits are formatted repeatedly instead of being cached. Only an
  // untrusted store has more bytes.
  static constexpr std::size_t kMaxOps = 1 << 15;
  static constexpr std::size_t kMaxBytes = 16 << 20;

  const Database& db_;
  bool has_mix_;
  Texts texts_;
  Statement read_;
  std::optional<RecentMap<std::int64_t, Op, kMaxOps>> known_;
  std::size_t bytes_ = 0;  // of the texts of `known_`
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

const OpSummaryCells::Op& OpSummaryCells::find(std::int64_t op_id) {
  if (!known_ || bytes_ > kMaxBytes) {
    known_.emplace();
    bytes_ = 0;
  }
  return known_->get(op_id, [this](std::int64_t id) { return load(id); });
}

OpSummaryCells::Op OpSummaryCells::load(std::int64_t op_id) {
  read_.reset();
  read_.bind(1, op_id);
  if (!read_.step()) throw db_.damaged("a task refers to a missing operator");
  Columns columns;
  for (std::size_t i = 0; i < kColumns; ++i) columns[i] = read_.maybe_integer(static_cast<int>(i));
  Op op;
  const std::string unit = columns[kUnit] ? texts_(*columns[kUnit]) : "N/A";
  op.is_printed = !is_any_of(unit, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
  // Collectives have separate rows, except kernels that run on the vector cores.
  if (unit == "COMMUNICATION") {
    op.is_printed = columns[kName] && texts_(*columns[kName]).ends_with("AivKernel");
  }
  op.has_counters = !is_any_of(unit, {"AI_CPU", "DSA_SQE", "DVPP"});
  op.block_num = columns[kBlockNum].value_or(0);
  op.mix_block_num = columns[kMixBlockNum].value_or(0);
  add_front(op.front, columns);
  add_back(op.back, columns);
  for (const CellList* const list : {&op.front, &op.back})
    for (const Cell& cell : list->cells())
      if (cell.has_bytes()) bytes_ += cell.size;
  return op;
}

void OpSummaryCells::add_front(CellList& cells, const Columns& op) {
  text_or_missing(cells, texts_, op[kName]);
  text_or_missing(cells, texts_, op[kType]);
  op[kDynamic] ? cells.text(*op[kDynamic] != 0 ? "dynamic" : "static") : cells.missing();
  text_or_missing(cells, texts_, op[kUnit]);
}

void OpSummaryCells::add_back(CellList& cells, const Columns& op) {
  cells.number_or_missing(op[kBlockNum]);
  if (has_mix_) cells.number_or_missing(op[kMixBlockNum]);
  op[kHf32] ? cells.text(*op[kHf32] != 0 ? "YES" : "NO") : cells.missing();
  for (std::size_t tensor = 0; tensor < kTensorCells; ++tensor) {
    const auto id = op[kFirstTensor + tensor];
    const bool is_shapes = tensor % 3 == 0;
    if (id && is_shapes && texts_(*id) != "N/A") {
      // Quotes are part of the text, so that a spreadsheet does not read a shape as a number.
      cells.text('"' + texts_(*id) + '"', text_id(*id, TextForm::quoted));
    } else {
      text_or_missing(cells, texts_, id);
    }
  }
}

constexpr std::string_view kMix = "Mix Block Num";
constexpr std::string_view kContext = "Context ID";

// Reads collectives by device and start, the order of the tasks.
class CollectiveNames {
 public:
  CollectiveNames(const Database& db, const ExportScope& scope, IdRange ids,
                  std::string_view order = "ASC")
      : scope_(scope),
        read_(db.prepare(
            fmt::format("SELECT device_id, start_ns, end_ns, comm_op.model_number,"
                        " comm_op.name_id, op_type_name_id FROM comm_op LEFT JOIN comm_call ON"
                        " comm_call.id = first_comm_call_id WHERE start_ns >= ?"
                        " AND comm_op.id BETWEEN ? AND ? ORDER BY comm_op.id {}",
                        order))) {
    read_.bind(1, cann::window_begin_ns(db)).bind(2, ids.first).bind(3, ids.last);
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

// Rows are in this order: device, start.
using RowPlace = std::pair<std::int64_t, std::int64_t>;

// The previous row, from whose end the wait time of a row counts.
struct LastRow {
  std::int64_t device = 0;
  std::int64_t end_ns = 0;
};

// The rows of consecutive tasks, and the collectives among them.
struct OpSummaryChunk {
  IdRange tasks{INT64_MIN, INT64_MAX};
  IdRange collectives{INT64_MIN, INT64_MAX};
  std::optional<LastRow> last{};  // before the chunk; empty if there is none
};

class OpSummaryWriter {
 public:
  OpSummaryWriter(const Database& db, const OutputFile& output_file)
      : db_(db),
        scope_(output_file.scope),
        has_stars_(cann::has_stars(db)),
        metrics_(db),
        values_(metrics_.columns().size()),
        ops_(db, has_stars_),
        texts_(db) {}

  // Requires that begin() of `out` was called; metrics are the columns from `first_metric` on.
  void write(const OpSummaryChunk& chunk, std::size_t first_metric, RowBuilder& out) {
    std::vector<bool> is_read;
    for (std::size_t i = 0; i < values_.size(); ++i) is_read.push_back(out.reads(first_metric + i));
    metrics_.evaluate_only(is_read);
    out_ = &out;
    last_ = chunk.last;
    counters_.emplace(db_, chunk.tasks.first);
    cann::TaskCursor tasks = read_tasks(chunk.tasks);
    CollectiveNames collectives(db_, scope_, chunk.collectives);
    bool more_tasks = tasks.next();
    bool more_collectives = collectives.next();
    while (more_tasks || more_collectives) {
      const bool is_task = more_tasks && (!more_collectives ||
                                          RowPlace(collectives.device(), collectives.start_ns()) >=
                                              RowPlace(tasks->device_id, tasks->start_ns));
      if (is_task) {
        write_task(*tasks);
        more_tasks = tasks.next();
      } else {
        write_collective(collectives);
        more_collectives = collectives.next();
      }
    }
  }

  // Returns the last row of the chunk without writing it.
  std::optional<LastRow> find_last(const OpSummaryChunk& chunk) {
    CollectiveNames collectives(db_, scope_, chunk.collectives, "DESC");
    std::optional<LastRow> last;
    std::int64_t last_start_ns = 0;
    // Usually among the last tasks.
    for (std::int64_t rows = 64; !last; rows *= 8) {
      const std::int64_t before = saturating_subtract(chunk.tasks.last, rows);
      cann::TaskCursor tasks = read_tasks({std::max(chunk.tasks.first, before), chunk.tasks.last});
      while (tasks.next()) {
        if (!ops_.find(tasks->op_id).is_printed) continue;
        last = LastRow{tasks->device_id, tasks.end_ns()};
        last_start_ns = tasks->start_ns;
      }
      if (before <= chunk.tasks.first) break;
    }
    if (collectives.next() && !(last && RowPlace(collectives.device(), collectives.start_ns()) <
                                            RowPlace(last->device, last_start_ns)))
      last = LastRow{collectives.device(),
                     saturating_add(collectives.start_ns(), collectives.duration_ns())};
    return last;
  }

 private:
  cann::TaskCursor read_tasks(IdRange ids) const {
    return {db_,
            scope_,
            {&TaskRow::id, &TaskRow::device_id, &TaskRow::model_number, &TaskRow::task_number,
             &TaskRow::stream_id, &TaskRow::context, &TaskRow::op_id},
            {.first_id = ids.first,
             .last_id = ids.last,
             .not_null = {&TaskRow::op_id, &TaskRow::device_type_name_id}}};
  }

  void write_task(const TaskRow& task) {
    const cann::OpSummaryCells::Op& op = ops_.find(task.op_id);
    if (!op.is_printed) return;
    out_->number(task.device_id);
    out_->number(given(task.model_number).value_or(kInvalidId));
    out_->number(task.task_number);
    out_->number(task.stream_id);
    out_->share(op.front.cells());
    write_times(task.device_id, task.start_ns, task.duration_ns);
    out_->share(op.back.cells());
    if (has_stars_) out_->number_or_missing(given(task.context));
    const std::int64_t* counters = op.has_counters ? counters_->find(task.id) : nullptr;
    counters == nullptr ? write_no_counters()
                        : write_counters(task.device_id, {counters, op.block_num, op.mix_block_num,
                                                          task.duration_ns});
    out_->end_row();
  }

  void write_collective(const CollectiveNames& op) {
    out_->number(op.device());
    out_->number(op.model());
    out_->missing();
    out_->missing();
    cann::text_or_missing(*out_, texts_, op.name_id());
    cann::text_or_missing(*out_, texts_, op.type_id());
    out_->missing();
    out_->text("COMMUNICATION");
    write_times(op.device(), op.start_ns(), op.duration_ns());
    out_->number(std::int64_t{0});
    const std::size_t rest = ops_.back_cells() - 1 + (has_stars_ ? 1 : 0);
    for (std::size_t i = 0; i < rest; ++i) out_->missing();
    write_no_counters();
    out_->end_row();
  }

  // Writes start, duration and the preceding idle time of the device: six decimals, but "0" in the
  // first row.
  void write_times(std::int64_t device, std::int64_t start_ns, std::int64_t duration_ns) {
    cann::us_timestamp(*out_, start_ns);
    cann::us_number(*out_, duration_ns);
    if (!last_) {
      out_->number("0");
    } else {
      const std::int64_t wait =
          device == last_->device
              ? std::max<std::int64_t>(0, saturating_subtract(start_ns, last_->end_ns))
              : 0;
      out_->number(wait, CellForm::us6);
    }
    last_ = LastRow{device, saturating_add(start_ns, duration_ns)};
  }

  void write_no_counters() {
    for (std::size_t i = 0; i < values_.size(); ++i) out_->missing();
  }

  void write_counters(std::int64_t device, const PmuTask& task) {
    metrics_.evaluate(device, task, values_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      write_value(metrics_.columns()[i].unit, values_[i], task.duration_ns);
    }
  }

  // Number formats: cann_device.md 15.1.
  void write_value(PmuUnit unit, double value, std::int64_t duration_ns) {
    if (std::isnan(value)) return out_->missing();
    if (unit == PmuUnit::cycles) return out_->number(static_cast<std::int64_t>(value));
    if (unit == PmuUnit::percent && duration_ns == 0) return out_->number(std::int64_t{0});
    out_->real(value, unit == PmuUnit::percent ? CellForm::fixed3 : CellForm::sqlite_round3);
  }

  const Database& db_;
  const ExportScope scope_;
  RowBuilder* out_ = nullptr;
  bool has_stars_;
  PmuMetrics metrics_;
  std::vector<double> values_;
  cann::OpSummaryCells ops_;
  cann::Texts texts_;
  std::optional<cann::TaskCounterCursor> counters_;
  std::optional<LastRow> last_;
};

// Tasks and collectives are sorted by device and start.
std::vector<OpSummaryChunk> plan_op_chunks(const Database& db, OpSummaryWriter& writer) {
  constexpr std::int64_t kChunkRows = 1 << 12;
  const auto ranges = chunk_ranges(id_range(db, TaskRow::kTable), kChunkRows);
  std::vector<OpSummaryChunk> chunks(1);
  chunks.front().tasks.first = ranges.front().first;
  RowCursor<CommOpRow> collective(db,
                                  {&CommOpRow::id, &CommOpRow::device_id, &CommOpRow::start_ns});
  bool has_collective = collective.next();
  for (const IdRange& ids : std::span(ranges).subspan(1)) {
    RowCursor<TaskRow> task(db, {&TaskRow::device_id, &TaskRow::start_ns}, {.first_id = ids.first});
    if (!task.next()) break;
    while (has_collective && RowPlace(collective->device_id, collective->start_ns) <
                                 RowPlace(task->device_id, task->start_ns))
      has_collective = collective.next();
    const std::int64_t first_collective = has_collective ? collective->id : INT64_MAX;
    OpSummaryChunk& before = chunks.back();
    before.tasks.last = ids.first - 1;
    before.collectives.last = saturating_subtract(first_collective, 1);
    OpSummaryChunk chunk{{ids.first, INT64_MAX}, {first_collective, INT64_MAX}, before.last};
    if (const auto last = writer.find_last(before)) chunk.last = last;
    chunks.push_back(chunk);
  }
  return chunks;
}

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

  std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const override {
    const auto writers = std::make_shared<PerConnection<OpSummaryWriter>>();
    const auto find_writer = [writers, output_file](const Database& own) -> OpSummaryWriter& {
      return writers->find(own,
                           [&] { return std::make_unique<OpSummaryWriter>(own, output_file); });
    };
    const std::size_t first_metric = columns_before_metrics(db).size();
    std::vector<TableChunk> chunks;
    for (const OpSummaryChunk& chunk : plan_op_chunks(db, find_writer(db))) {
      chunks.emplace_back([=](const Database& own, RowBuilder& out) {
        find_writer(own).write(chunk, first_metric, out);
      });
    }
    return chunks;
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
