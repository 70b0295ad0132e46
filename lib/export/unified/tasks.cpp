// Tables of tasks: TASK, COMPUTE_TASK_INFO, COMMUNICATION_SCHEDULE_TASK_INFO, TASK_PMU_INFO (one
// pass over the tasks), MEMCPY_INFO. Source: cann_host.md 2.6 (marks), cann_device.md 14.3
// (taskType), 14.5 (which tasks), 25.1.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "derive/pmu_metrics.hpp"
#include "export/old/columns.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/unified/unified_writer.hpp"

namespace msprof::unified {

namespace {

// Texts of operators as string ids of the unified database, cached for all tasks of an operator.
// Source: cann_host.md 2.6, cann_device.md 25.1.

struct TaskOp {
  std::int64_t name = 0;
  std::int64_t block_num = 0;
  std::int64_t mix_block_num = 0;
  std::int64_t unit = 0;  // "taskType"
  std::int64_t type = 0;
  // Formats, types, shapes of inputs, then of outputs.
  std::array<std::int64_t, 6> tensors{};
  std::int64_t attribute = 0;
  std::int64_t state = 0;
  std::int64_t hf32 = 0;
  std::int64_t grid_dim = 0;
  std::int64_t block_dim = 0;
  bool is_scheduling = false;  // an AI CPU kernel that drives a collective
};

class TaskOps {
 public:
  explicit TaskOps(UnifiedWriter& out);

  // Valid until the next call. Throws for an unknown operator.
  const TaskOp& find(std::int64_t op_id);
  // Returns true for a stream on which kernels drive collectives.
  bool is_scheduling_stream(std::int64_t stream) const { return kfc_streams_.count(stream) != 0; }

 private:
  TaskOp load(std::int64_t op_id);
  std::int64_t shapes(std::optional<std::int64_t> name_id);
  std::string read_text(std::int64_t name_id);

  UnifiedWriter& out_;
  Statement read_;
  Statement text_;
  std::set<std::int64_t> kfc_streams_;
  std::unordered_map<std::int64_t, TaskOp> known_;
  std::unordered_map<std::int64_t, std::int64_t> shapes_;  // ids of quoted strings, by name id
};

// Operators beyond this number are read repeatedly instead of being cached.
constexpr std::size_t kMaxOps = 1 << 15;

enum Cell : int {
  kName,
  kBlockNum,
  kMixBlockNum,
  kUnit,
  kType,
  kFirstTensor,  // formats, types, shapes of inputs; then of outputs
  kAttribute = kFirstTensor + 6,
  kDynamic,
  kHf32,
  kGridDim,
  kBlockDim
};

constexpr const char* kSelectOp =
    "SELECT name_id, block_num, mix_block_num, unit_name_id, type_name_id, input_formats_name_id,"
    " input_types_name_id, input_shapes_name_id, output_formats_name_id, output_types_name_id,"
    " output_shapes_name_id, attribute_name_id, is_dynamic, hf32_eligible, grid_dim_name_id,"
    " block_dim_name_id FROM op WHERE id = ?";

TaskOps::TaskOps(UnifiedWriter& out)
    : out_(out),
      read_(out.store().prepare(kSelectOp)),
      text_(out.store().prepare("SELECT text FROM name WHERE id = ?")) {
  Statement streams =
      out.store().prepare("SELECT stream_id FROM kfc_stream WHERE is_comm_stream = 0 ORDER BY id");
  while (streams.step()) kfc_streams_.insert(streams.integer(0));
}

const TaskOp& TaskOps::find(std::int64_t op_id) {
  const auto known = known_.find(op_id);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMaxOps) known_.clear();
  return known_[op_id] = load(op_id);
}

std::string TaskOps::read_text(std::int64_t name_id) {
  text_.reset();
  text_.bind(1, out_.name(name_id));
  return text_.step() ? std::string(text_.text(0)) : std::string();
}

// Quoted, as in op_summary.
std::int64_t TaskOps::shapes(std::optional<std::int64_t> name_id) {
  if (!name_id) return out_.name(name_id);
  const auto [at, is_new] = shapes_.try_emplace(*name_id);
  if (is_new) {
    const std::string text = read_text(*name_id);
    at->second = text == "N/A" ? *name_id : out_.text('"' + text + '"');
  }
  return at->second;
}

TaskOp TaskOps::load(std::int64_t op_id) {
  read_.reset();
  read_.bind(1, op_id);
  if (!read_.step()) throw out_.store().damaged("a task refers to a missing operator");
  const auto name = [&](int cell) { return out_.name(read_.maybe_integer(cell)); };
  const auto read_choice = [&](int cell, const char* no, const char* yes) {
    return out_.text(read_.is_null(cell) ? "N/A" : read_.integer(cell) != 0 ? yes : no);
  };
  TaskOp op;
  op.name = name(kName);
  op.block_num = read_.integer(kBlockNum);
  op.mix_block_num = read_.integer(kMixBlockNum);
  op.unit = name(kUnit);
  op.type = name(kType);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const int cell = kFirstTensor + static_cast<int>(i);
    op.tensors[i] = i % 3 == 2 ? shapes(read_.maybe_integer(cell)) : name(cell);
  }
  op.attribute = name(kAttribute);
  op.state = read_choice(kDynamic, "static", "dynamic");
  op.hf32 = read_choice(kHf32, "NO", "YES");
  op.grid_dim = name(kGridDim);
  op.block_dim = name(kBlockDim);
  op.is_scheduling =
      !read_.is_null(kName) && read_text(read_.integer(kName)).ends_with("AicpuKernel");
  return op;
}

// Table TASK_PMU_INFO: every metric of both kinds of cores, one row per task and metric. Tasks must
// be passed in ascending order of ids. It is by far the largest table. Source: cann_device.md 12.3,
// 25.2.

class TaskPmu {
 public:
  explicit TaskPmu(UnifiedWriter& out);

  bool has_metrics() const { return !metrics_.columns().empty(); }
  // Writes the rows of a task if it has counters; `task` does not contain them.
  void write(std::int64_t task_id, std::int64_t unified_id, std::int64_t device_id, PmuTask task);

 private:
  struct Metric {
    std::int64_t name = 0;  // string id
    double factor = 1;
  };

  PmuMetrics metrics_;
  std::vector<Metric> kinds_;
  std::vector<double> values_;
  UnifiedRows rows_;
  cann::TaskCounterCursor counters_;
};

constexpr std::uint32_t kValueColumn = 1 << 2;
constexpr UnifiedTable kTaskPmu{
    "TASK_PMU_INFO", "globalTaskId INTEGER, name STRING, value NUMERIC", {}, kValueColumn};

// Returns the name of a metric in the table and its factor. Times are ns without a unit. For native
// columns the other units are dropped and values stay. For the others, rates are bytes per second
// (factor 1024^3), and KB stays in the name (cann_device.md 25.2).
std::string db_name(std::string_view name, bool is_native, double& factor) {
  struct Unit {
    std::string_view suffix;
    double factor;
    bool goes;
  };
  const Unit units[] = {{"(us)", 1000.0, true},
                        {"(GB/s)", is_native ? 1.0 : 1024.0 * 1024.0 * 1024.0, true},
                        {"(KB)", 1.0, is_native}};
  for (const Unit& unit : units) {
    if (!unit.goes || !name.ends_with(unit.suffix)) continue;
    name.remove_suffix(unit.suffix.size());
    factor = unit.factor;
  }
  return std::string(name);
}

TaskPmu::TaskPmu(UnifiedWriter& out)
    : metrics_(out.store(), PmuMetrics::Choice::all),
      values_(metrics_.columns().size()),
      rows_(out, kTaskPmu),
      counters_(out.store()) {
  std::vector<std::string> names;
  for (const PmuColumn& column : metrics_.columns()) {
    Metric& metric = kinds_.emplace_back();
    names.push_back(db_name(column.name, metrics_.is_native(), metric.factor));
  }
  if (names.empty()) return;
  out.find_texts(names);
  for (std::size_t i = 0; i < names.size(); ++i) kinds_[i].name = out.text(names[i]);
}

void TaskPmu::write(std::int64_t task_id, std::int64_t unified_id, std::int64_t device_id,
                    PmuTask task) {
  task.counters = counters_.find(task_id);
  if (task.counters == nullptr) return;
  metrics_.evaluate(device_id, task, values_);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double value = std::isfinite(values_[i]) ? values_[i] * kinds_[i].factor : 0.0;
    rows_.add({unified_id, kinds_[i].name, real_cell(value)});
  }
}

constexpr UnifiedTable kTask{
    "TASK",
    "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
    " globalPid INTEGER, taskType STRING, contextId INTEGER, streamId INTEGER, taskId INTEGER,"
    " modelId INTEGER",
    "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)"};
constexpr UnifiedTable kCompute{
    "COMPUTE_TASK_INFO",
    "name STRING, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,"
    " taskType STRING, opType STRING, inputFormats STRING, inputDataTypes STRING,"
    " inputShapes STRING, outputFormats STRING, outputDataTypes STRING, outputShapes STRING,"
    " attrInfo STRING, opState STRING, hf32Eligible STRING, gridDim STRING, blockDim STRING"};
constexpr UnifiedTable kCann8Compute{kCompute.name, old::kCann8ComputeColumns};
constexpr UnifiedTable kSchedule{
    "COMMUNICATION_SCHEDULE_TASK_INFO",
    "name STRING, globalTaskId INTEGER PRIMARY KEY, taskType STRING, opType STRING"};
constexpr UnifiedTable kCopies{"MEMCPY_INFO",
                               "globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC"};

class TaskWalk {
 public:
  explicit TaskWalk(UnifiedWriter& out)
      : out_(out),
        tasks_(out, kTask),
        compute_(out, out.has_cann8_names() ? kCann8Compute : kCompute),
        schedule_(out, kSchedule),
        ops_(out),
        pmu_(out),
        types_(out.store()) {}

  void write() {
    cann::TaskCursor tasks(
        out_.store(), {},
        {&TaskRow::id, &TaskRow::op_id, &TaskRow::device_id, &TaskRow::stream_id,
         &TaskRow::task_number, &TaskRow::batch, &TaskRow::context, &TaskRow::host_type_name_id,
         &TaskRow::device_type_name_id, &TaskRow::model_number, &TaskRow::api_id},
        {.not_null = {&TaskRow::device_type_name_id}});
    while (tasks.next()) write_task(*tasks, tasks.end_ns());
  }

  // Writes the marks of devices as separate tasks.
  void write_marks() {
    std::int64_t number = 0;
    Statement read = out_.store().prepare(
        "SELECT start_ns, end_ns, device_id, mark_id, stream_id, task_number, model_number"
        " FROM device_mark WHERE start_ns >= ? ORDER BY id");
    read.bind(1, out_.begin_ns());
    while (read.step()) {
      tasks_.add({read.integer(0), read.integer(1), read.integer(2),
                  mark_connection(read.integer(3)), out_.task_ids().extra(number++),
                  out_.process_id(), out_.text("MsTx"), kInvalidId, read.integer(4),
                  read.integer(5), read.maybe_integer(6).value_or(kInvalidId)});
    }
  }

 private:
  void write_task(const TaskRow& task, std::int64_t end_ns) {
    if (end_ns - task.start_ns != task.duration_ns) {
      throw out_.store().damaged("the end time of a task is out of range");
    }
    const TaskKey key = task_key(task);
    const std::int64_t unified_id = out_.task_ids().find(task.id, key);
    const std::int64_t type = types_.effective(task.host_type_name_id, task.device_type_name_id);
    tasks_.add({task.start_ns, end_ns, key.device, given(task.api_id).value_or(kNoValue),
                unified_id, out_.process_id(), out_.name(given(type)),
                key.context < 0 ? kInvalidId : key.context, key.stream, key.number,
                given(task.model_number).value_or(kInvalidId)});
    PmuTask load;
    load.duration_ns = task.duration_ns;
    if (task.op_id != kNull) {
      const TaskOp& op = ops_.find(task.op_id);
      load.block_num = op.block_num;
      load.mix_block_num = op.mix_block_num;
      if (out_.task_ids().describe(task.id, key)) describe(op, unified_id, key.stream);
    }
    if (pmu_.has_metrics()) pmu_.write(task.id, unified_id, key.device, load);
  }

  void describe(const TaskOp& op, std::int64_t id, std::int64_t stream) {
    if (op.is_scheduling || ops_.is_scheduling_stream(stream)) {
      return schedule_.add({op.name, id, op.unit, op.type});
    }
    if (out_.has_cann8_names()) {
      return compute_.add({op.name, id, op.block_num, op.mix_block_num, op.unit, op.type,
                           op.tensors[0], op.tensors[1], op.tensors[2], op.tensors[3],
                           op.tensors[4], op.tensors[5], op.attribute, op.state, op.hf32});
    }
    compute_.add({op.name, id, op.block_num, op.mix_block_num, op.unit, op.type, op.tensors[0],
                  op.tensors[1], op.tensors[2], op.tensors[3], op.tensors[4], op.tensors[5],
                  op.attribute, op.state, op.hf32, op.grid_dim, op.block_dim});
  }

  UnifiedWriter& out_;
  UnifiedRows tasks_;
  UnifiedRows compute_;
  UnifiedRows schedule_;
  TaskOps ops_;
  TaskPmu pmu_;
  cann::TaskTypes types_;
};

}  // namespace

void write_tasks(UnifiedWriter& out) {
  TaskWalk walk(out);
  walk.write();
  walk.write_marks();
}

void write_copies(UnifiedWriter& out) {
  UnifiedRows rows(out, kCopies);
  Statement read = out.store().prepare(
      fmt::format("SELECT task_id, size_bytes, direction, {} FROM memcpy_task"
                  " CROSS JOIN task ON task.id = task_id WHERE device_type_name_id IS NOT NULL"
                  " AND start_ns + duration_ns >= ? ORDER BY task_id",
                  kTaskKeyColumns));
  read.bind(1, out.begin_ns());
  while (read.step()) {
    const std::int64_t id = out.task_ids().find(read.integer(0), task_key(read, 3));
    rows.add({id, read.integer(1), read.integer(2)});
  }
}

}  // namespace msprof::unified
