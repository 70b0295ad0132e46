// Writes the rows of the Parquet files: one pass over each table of the store.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "export/parquet/parquet_tables.hpp"
#include "store/row_cursor.hpp"
#include "store/row_ids.hpp"
#include "store/schema.hpp"

namespace msprof::parquet {

namespace {

// Key of the capture's name; its value is irrelevant.
constexpr std::int64_t kThisCapture = 0;

std::int64_t duration_or_null(std::int64_t start_ns, std::int64_t end_ns) {
  return start_ns == kNull || end_ns == kNull ? kNull : saturating_subtract(end_ns, start_ns);
}

// Reads cells of a row by its id. Keeps the last row, because neighbouring rows often share it.
template <std::size_t kCells>
class RowById {
 public:
  using Cells = std::array<std::int64_t, kCells>;

  // `sql`: SELECT of the cells, with the id as parameter.
  RowById(const Database& db, std::string_view sql) : read_(db.prepare(sql)) { cells_.fill(kNull); }
  // All cells are kNull if there is no such row.
  const Cells& find(std::int64_t id) {
    if (id == id_) return cells_;
    id_ = id;
    cells_.fill(kNull);
    read_.bind(1, id);
    if (id != kNull && read_.step()) {
      for (std::size_t i = 0; i < kCells; ++i)
        cells_[i] = read_.maybe_integer(static_cast<int>(i)).value_or(kNull);
    }
    read_.reset();
    return cells_;
  }

 private:
  Statement read_;
  std::int64_t id_ = kNull;
  Cells cells_;
};

// Finds the iteration in which an event starts: a step of the framework if the device has any, else
// an iteration of the model.
class IterationSpans {
 public:
  explicit IterationSpans(const Database& db) {
    using Row = IterationRow;
    RowCursor<Row> read(db, {&Row::device_id, &Row::model_number, &Row::number, &Row::start_ns,
                             &Row::end_ns, &Row::is_framework_step});
    while (read.next()) {
      if (read->start_ns == kNull || read->end_ns == kNull) continue;
      const IterationKey key{read->device_id,
                             read->is_framework_step != 0 ? kFramework : read->model_number};
      spans_[key].push_back({read->start_ns, read->end_ns, read->number});
    }
    for (auto& [key, spans] : spans_) {
      std::stable_sort(spans.begin(), spans.end(),
                       [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
    }
  }

  std::int64_t at(std::int64_t device_id, std::int64_t model_number, std::int64_t time_ns) {
    if (spans_.empty() || time_ns == kNull) return kNull;
    if (!last_ || last_->first != IterationKey{device_id, model_number})
      last_ = {{device_id, model_number}, find_spans(device_id, model_number)};
    if (last_->second == nullptr) return kNull;
    const std::vector<Span>& spans = *last_->second;
    auto after =
        std::upper_bound(spans.begin(), spans.end(), time_ns,
                         [](std::int64_t time, const Span& s) { return time < s.start_ns; });
    if (after == spans.begin()) return kNull;
    --after;
    return time_ns < after->end_ns ? after->number : kNull;
  }

 private:
  // Less than every model number except kNull.
  static constexpr std::int64_t kFramework = INT64_MIN + 1;
  using IterationKey = std::pair<std::int64_t, std::int64_t>;
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t number = 0;
  };

  const std::vector<Span>* find_spans(std::int64_t device_id, std::int64_t model_number) const {
    for (const std::int64_t owner : {kFramework, model_number}) {
      const auto found = spans_.find({device_id, owner});
      if (found != spans_.end()) return &found->second;
    }
    return nullptr;
  }

  std::map<IterationKey, std::vector<Span>> spans_;
  std::optional<std::pair<IterationKey, const std::vector<Span>*>> last_;
};

// An operator that ran.
struct Op {
  std::array<std::int64_t, 3> names{};  // name, type, unit
  std::int64_t count = 0;               // tasks with a duration
  std::int64_t total_ns = 0;
  std::int64_t min_ns = kNull;
  std::int64_t max_ns = kNull;
  bool is_known = false;  // `names` have been read

  void add(std::int64_t duration_ns) {
    if (duration_ns == kNull) return;
    min_ns = count == 0 ? duration_ns : std::min(min_ns, duration_ns);
    max_ns = std::max(max_ns, duration_ns);
    total_ns = saturating_add(total_ns, duration_ns);
    ++count;
  }
};

class ParquetRows {
 public:
  explicit ParquetRows(const Database& db)
      : db_(db),
        ops_(db, OpRow::kTable),
        op_names_(db, "SELECT name_id, type_name_id, unit_name_id FROM op WHERE id = ?"),
        iterations_(db) {}

  void write_tasks(FileWriter& out);
  void write_calls(FileWriter& out);
  void write_collectives(FileWriter& out);
  // Call after write_tasks(), which fills ops_.
  void write_ops(FileWriter& out);

 private:
  Op* find_op(std::int64_t id) {
    if (!ops_.can_have(id)) return nullptr;
    Op& op = ops_[id];
    if (!op.is_known) op.names = op_names_.find(id);
    op.is_known = true;
    return &op;
  }

  const Database& db_;
  ById<Op> ops_;
  RowById<3> op_names_;
  IterationSpans iterations_;
};

// Returns the collective of each task. Tasks must be queried in ascending order.
class CollectiveOfTask {
 public:
  explicit CollectiveOfTask(const Database& db)
      : read_(db, {&CommOpTaskRow::task_id, &CommOpTaskRow::comm_op_id}), has_row_(read_.next()) {}
  std::int64_t find(std::int64_t task_id) {
    while (has_row_ && read_->task_id < task_id) has_row_ = read_.next();
    return has_row_ && read_->task_id == task_id ? read_->comm_op_id : kNull;
  }

 private:
  RowCursor<CommOpTaskRow> read_;
  bool has_row_;
};

void ParquetRows::write_tasks(FileWriter& out) {
  using Row = TaskRow;
  RowCursor<Row> read(db_, {&Row::id, &Row::step_id, &Row::op_id, &Row::start_ns, &Row::duration_ns,
                            &Row::execution, &Row::device_id, &Row::stream_id, &Row::task_number,
                            &Row::host_type_name_id, &Row::device_type_name_id,
                            &Row::kernel_name_id, &Row::model_number, &Row::api_id});
  CollectiveOfTask collectives(db_);
  RowById<3> steps(db_,
                   "SELECT step.number, model.device_id, model.model_id FROM step"
                   " LEFT JOIN model ON model.id = step.model_row WHERE step.id = ?");
  constexpr std::array<std::int64_t, 3> kNoOp = {kNull, kNull, kNull};
  while (read.next()) {
    const Row& task = *read;
    Op* const op = find_op(task.op_id);
    if (op != nullptr) op->add(task.duration_ns);
    const auto& [op_name, op_type, op_unit] = op == nullptr ? kNoOp : op->names;
    std::int64_t device_id = task.device_id;
    std::int64_t model_id = task.model_number;
    std::int64_t number = kNull;
    if (task.step_id != kNull) {
      const auto& step = steps.find(task.step_id);
      number = step[0];
      if (device_id == kNull) device_id = step[1];
      if (model_id == kNull) model_id = step[2];
    } else {
      number = iterations_.at(device_id, model_id, task.start_ns);
    }
    const std::int64_t type = op_unit != kNull                  ? op_unit
                              : task.host_type_name_id != kNull ? task.host_type_name_id
                                                                : task.device_type_name_id;
    const std::int64_t cells[] = {kThisCapture,
                                  task.id,
                                  device_id,
                                  model_id,
                                  number,
                                  task.execution,
                                  task.stream_id,
                                  task.task_number,
                                  task.op_id,
                                  op_name,
                                  op_type,
                                  type,
                                  task.start_ns,
                                  task.duration_ns,
                                  task.api_id,
                                  collectives.find(task.id),
                                  task.kernel_name_id};
    out.add(cells);
  }
}

void ParquetRows::write_calls(FileWriter& out) {
  using Row = ApiCallRow;
  RowCursor<Row> read(
      db_, {&Row::id, &Row::process_id, &Row::thread_id, &Row::type_name_id, &Row::name_id,
            &Row::start_ns, &Row::end_ns, &Row::level, &Row::item_name_id});
  while (read.next()) {
    const Row& call = *read;
    const std::int64_t cells[] = {kThisCapture,    call.id,
                                  call.process_id, call.thread_id,
                                  call.level,      call.type_name_id,
                                  call.name_id,    call.item_name_id,
                                  call.start_ns,   duration_or_null(call.start_ns, call.end_ns)};
    out.add(cells);
  }
}

void ParquetRows::write_collectives(FileWriter& out) {
  using Row = CommOpRow;
  RowCursor<Row> read(
      db_, {&Row::id, &Row::device_id, &Row::name_id, &Row::group_name_id, &Row::start_ns,
            &Row::end_ns, &Row::model_number, &Row::rank_size, &Row::first_comm_call_id});
  // The properties of a collective are those of its first call.
  RowById<4> calls(db_,
                   "SELECT op_type_name_id, op_algorithm_name_id, op_data_type, op_count"
                   " FROM comm_call WHERE id = ?");
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts;
  while (read.next()) {
    const Row& op = *read;
    const auto& [type, algorithm, data_type, count] = calls.find(op.first_comm_call_id);
    const std::int64_t cells[] = {kThisCapture,
                                  op.id,
                                  op.device_id,
                                  op.model_number,
                                  iterations_.at(op.device_id, op.model_number, op.start_ns),
                                  op.name_id,
                                  type,
                                  op.group_name_id,
                                  counts[{op.device_id, op.group_name_id}]++,
                                  op.rank_size,
                                  algorithm,
                                  data_type,
                                  count,
                                  op.start_ns,
                                  op.end_ns,
                                  duration_or_null(op.start_ns, op.end_ns)};
    out.add(cells);
  }
}

void ParquetRows::write_ops(FileWriter& out) {
  using Row = OpRow;
  RowCursor<Row> read(
      db_, {&Row::id, &Row::model_row, &Row::layer_id, &Row::position, &Row::name_id,
            &Row::original_name_id, &Row::type_name_id, &Row::unit_name_id, &Row::block_num,
            &Row::input_shapes_name_id, &Row::input_types_name_id, &Row::output_shapes_name_id});
  RowById<2> models(db_, "SELECT model_id, name_id FROM model WHERE id = ?");
  while (read.next()) {
    const Row& op = *read;
    const Op* const times = ops_.find(op.id);
    if (times == nullptr) continue;
    const auto& [model_id, model_name] = models.find(op.model_row);
    const std::int64_t cells[] = {kThisCapture,
                                  op.id,
                                  model_id,
                                  model_name,
                                  op.position,
                                  op.layer_id,
                                  op.name_id,
                                  op.original_name_id,
                                  op.type_name_id,
                                  op.unit_name_id,
                                  op.input_shapes_name_id,
                                  op.output_shapes_name_id,
                                  op.input_types_name_id,
                                  op.block_num,
                                  times->count,
                                  times->total_ns,
                                  times->min_ns,
                                  times->max_ns};
    out.add(cells);
  }
}

}  // namespace

void write_rows(const Database& db, const std::vector<FileWriter*>& files) {
  ParquetRows rows(db);
  rows.write_tasks(*files.at(0));
  rows.write_calls(*files.at(1));
  rows.write_collectives(*files.at(2));
  rows.write_ops(*files.at(3));
}

}  // namespace msprof::parquet
