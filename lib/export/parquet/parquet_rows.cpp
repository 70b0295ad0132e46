// Writes the rows of the Parquet files: one pass over each table of the store.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "export/parquet/parquet_tables.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::parquet {

namespace {

// Key of the capture's name; any value works.
constexpr std::int64_t kThisCapture = 0;

std::int64_t duration_of(std::int64_t start_ns, std::int64_t end_ns) {
  return start_ns == kNull || end_ns == kNull ? kNull : saturating_subtract(end_ns, start_ns);
}

// All rows of a table by id; only for tables whose size does not depend on the length of the run.
// Most have the ids 1, 2, 3, …
template <typename Row>
class RowsById {
 public:
  RowsById(const Database& db, const typename RowCursor<Row>::Columns& columns) {
    for (RowCursor<Row> read(db, columns); read.next();) rows_.push_back(*read);
  }
  const Row* find(std::int64_t id) const {
    if (rows_.empty() || id < rows_.front().id || id > rows_.back().id) return nullptr;
    const auto guess = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(rows_[0].id);
    if (guess < rows_.size() && rows_[guess].id == id) return &rows_[guess];
    const auto found =
        std::lower_bound(rows_.begin(), rows_.end(), id,
                         [](const Row& row, std::int64_t wanted) { return row.id < wanted; });
    return found != rows_.end() && found->id == id ? &*found : nullptr;
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

// Finds the iteration in which an event starts: a step of the framework if the device has any, else
// an iteration of the model.
class Iterations {
 public:
  explicit Iterations(const Database& db) {
    using Row = IterationRow;
    RowCursor<Row> read(db, {&Row::device_id, &Row::model_number, &Row::number, &Row::start_ns,
                             &Row::end_ns, &Row::is_framework_step});
    while (read.next()) {
      if (read->start_ns == kNull || read->end_ns == kNull) continue;
      const Key key{read->device_id,
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
    if (!last_ || last_->first != Key{device_id, model_number})
      last_ = {{device_id, model_number}, spans_of(device_id, model_number)};
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
  using Key = std::pair<std::int64_t, std::int64_t>;
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t number = 0;
  };

  const std::vector<Span>* spans_of(std::int64_t device_id, std::int64_t model_number) const {
    for (const std::int64_t owner : {kFramework, model_number}) {
      const auto found = spans_.find({device_id, owner});
      if (found != spans_.end()) return &found->second;
    }
    return nullptr;
  }

  std::map<Key, std::vector<Span>> spans_;
  std::optional<std::pair<Key, const std::vector<Span>*>> last_;
};

struct OpTime {
  std::int64_t tasks = 0;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = kNull;
  std::int64_t max_ns = kNull;

  void add(std::int64_t duration_ns) {
    ++tasks;
    if (duration_ns == kNull) return;
    min_ns = count == 0 ? duration_ns : std::min(min_ns, duration_ns);
    max_ns = std::max(max_ns, duration_ns);
    total_ns = saturating_add(total_ns, duration_ns);
    ++count;
  }
};

class TableRows {
 public:
  explicit TableRows(const Database& db)
      : db_(db),
        ops_(db, {&OpRow::id, &OpRow::model_row, &OpRow::layer_id, &OpRow::position,
                  &OpRow::name_id, &OpRow::original_name_id, &OpRow::type_name_id,
                  &OpRow::unit_name_id, &OpRow::block_num, &OpRow::input_shapes_name_id,
                  &OpRow::input_types_name_id, &OpRow::output_shapes_name_id}),
        models_(db, {&ModelRow::id, &ModelRow::device_id, &ModelRow::model_id, &ModelRow::name_id}),
        steps_(db, {&StepRow::id, &StepRow::model_row, &StepRow::number}),
        op_times_(ops_.rows().size()),
        iterations_(db) {}

  void write_tasks(FileWriter& out);
  void write_calls(FileWriter& out);
  void write_collectives(FileWriter& out);
  // Call after write_tasks(), which fills op_times_.
  void write_ops(FileWriter& out);

 private:
  const Database& db_;
  RowsById<OpRow> ops_;
  RowsById<ModelRow> models_;
  RowsById<StepRow> steps_;
  std::vector<OpTime> op_times_;
  Iterations iterations_;
};

// Returns the collective of each task. Tasks must be queried in ascending order.
class CollectiveOfTask {
 public:
  explicit CollectiveOfTask(const Database& db)
      : read_(db, {&CommOpTaskRow::task_id, &CommOpTaskRow::comm_op_id}), has_row_(read_.next()) {}
  std::int64_t of(std::int64_t task_id) {
    while (has_row_ && read_->task_id < task_id) has_row_ = read_.next();
    return has_row_ && read_->task_id == task_id ? read_->comm_op_id : kNull;
  }

 private:
  RowCursor<CommOpTaskRow> read_;
  bool has_row_;
};

void TableRows::write_tasks(FileWriter& out) {
  using Row = TaskRow;
  RowCursor<Row> read(db_, {&Row::id, &Row::step_id, &Row::op_id, &Row::start_ns, &Row::duration_ns,
                            &Row::execution, &Row::device_id, &Row::stream_id, &Row::task_number,
                            &Row::host_type_name_id, &Row::device_type_name_id,
                            &Row::kernel_name_id, &Row::model_number, &Row::api_id});
  CollectiveOfTask collectives(db_);
  static const OpRow no_op;
  while (read.next()) {
    const Row& task = *read;
    const OpRow* op = task.op_id == kNull ? nullptr : ops_.find(task.op_id);
    if (op != nullptr)
      op_times_[static_cast<std::size_t>(op - ops_.rows().data())].add(task.duration_ns);
    else
      op = &no_op;
    std::int64_t device_id = task.device_id;
    std::int64_t model_id = task.model_number;
    std::int64_t number = kNull;
    if (task.step_id != kNull) {
      const StepRow* step = steps_.find(task.step_id);
      const ModelRow* model = step == nullptr ? nullptr : models_.find(step->model_row);
      if (step != nullptr) number = step->number;
      if (model != nullptr && device_id == kNull) device_id = model->device_id;
      if (model != nullptr && model_id == kNull) model_id = model->model_id;
    } else {
      number = iterations_.at(device_id, model_id, task.start_ns);
    }
    const std::int64_t type = op->unit_name_id != kNull         ? op->unit_name_id
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
                                  op->name_id,
                                  op->type_name_id,
                                  type,
                                  task.start_ns,
                                  task.duration_ns,
                                  task.api_id,
                                  collectives.of(task.id),
                                  task.kernel_name_id};
    out.add(cells);
  }
}

void TableRows::write_calls(FileWriter& out) {
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
                                  call.start_ns,   duration_of(call.start_ns, call.end_ns)};
    out.add(cells);
  }
}

// Reads the properties of a collective from its first call.
class CommCalls {
 public:
  explicit CommCalls(const Database& db)
      : read_(db.prepare("SELECT op_type_name_id, op_algorithm_name_id, op_data_type, op_count"
                         " FROM comm_call WHERE id = ?")) {}
  CommCallRow of(std::int64_t id) {
    CommCallRow row;
    if (id == kNull) return row;
    read_.bind(1, id);
    if (read_.step()) {
      row.op_type_name_id = read_.maybe_integer(0).value_or(kNull);
      row.op_algorithm_name_id = read_.maybe_integer(1).value_or(kNull);
      row.op_data_type = read_.maybe_integer(2).value_or(kNull);
      row.op_count = read_.maybe_integer(3).value_or(kNull);
    }
    read_.reset();
    return row;
  }

 private:
  Statement read_;
};

void TableRows::write_collectives(FileWriter& out) {
  using Row = CommOpRow;
  RowCursor<Row> read(
      db_, {&Row::id, &Row::device_id, &Row::name_id, &Row::group_name_id, &Row::start_ns,
            &Row::end_ns, &Row::model_number, &Row::rank_size, &Row::first_comm_call_id});
  CommCalls calls(db_);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts;
  while (read.next()) {
    const Row& op = *read;
    const CommCallRow call = calls.of(op.first_comm_call_id);
    const std::int64_t cells[] = {kThisCapture,
                                  op.id,
                                  op.device_id,
                                  op.model_number,
                                  iterations_.at(op.device_id, op.model_number, op.start_ns),
                                  op.name_id,
                                  call.op_type_name_id,
                                  op.group_name_id,
                                  counts[{op.device_id, op.group_name_id}]++,
                                  op.rank_size,
                                  call.op_algorithm_name_id,
                                  call.op_data_type,
                                  call.op_count,
                                  op.start_ns,
                                  op.end_ns,
                                  duration_of(op.start_ns, op.end_ns)};
    out.add(cells);
  }
}

void TableRows::write_ops(FileWriter& out) {
  for (std::size_t i = 0; i < op_times_.size(); ++i) {
    const OpTime& time = op_times_[i];
    if (time.tasks == 0) continue;
    const OpRow& op = ops_.rows()[i];
    const ModelRow* model = op.model_row == kNull ? nullptr : models_.find(op.model_row);
    const std::int64_t cells[] = {kThisCapture,
                                  op.id,
                                  model == nullptr ? kNull : model->model_id,
                                  model == nullptr ? kNull : model->name_id,
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
                                  time.count,
                                  time.total_ns,
                                  time.min_ns,
                                  time.max_ns};
    out.add(cells);
  }
}

}  // namespace

void write_rows(const Database& db, const std::vector<FileWriter*>& files) {
  TableRows rows(db);
  rows.write_tasks(*files.at(0));
  rows.write_calls(*files.at(1));
  rows.write_collectives(*files.at(2));
  rows.write_ops(*files.at(3));
}

}  // namespace msprof::parquet
