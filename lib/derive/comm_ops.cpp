// comm_op, comm_op_task, comm_span: the tasks of collectives put together to operators.
// Source: cann_device.md 18.1, 18.2.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

constexpr std::string_view kAicpuKernel = "AicpuKernel";
constexpr std::size_t kGroupDigits = 3;  // of the group's hash, in names

struct DeviceRun {
  std::int64_t device_id = 0;
  std::int64_t first_task_id = 0;
  std::int64_t last_task_id = 0;
};

// A task of a collective with the facts of its call.
struct Task {
  std::int64_t id = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t model_number = kNull;
  std::int64_t call_id = 0;
  std::int64_t host_count = 0;
  std::int64_t op_begin_count = 0;
  std::int64_t op_name_id = kNull;
  std::int64_t op_type_name_id = kNull;
  bool is_master = false;
  std::int64_t group_hash = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t rank_size = kNull;
};

std::int64_t cell(const Statement& row, int column) {
  return row.maybe_integer(column).value_or(kNull);
}

Task task_of(const Statement& row) {
  Task task;
  task.id = row.integer(0);
  task.start_ns = row.integer(1);
  task.end_ns = saturating_add(task.start_ns, row.integer(2));
  task.model_number = cell(row, 3);
  task.call_id = row.integer(4);
  task.host_count = row.integer(5);
  task.op_begin_count = row.integer(6);
  task.op_name_id = cell(row, 7);
  task.op_type_name_id = cell(row, 8);
  task.is_master = row.integer(9) != 0;
  task.group_hash = cell(row, 10);
  task.group_name_id = cell(row, 11);
  task.rank_size = cell(row, 12);
  return task;
}

// One of our operators, while its tasks are found.
struct Op {
  CommOpRow row;
  bool has_master = false;
  std::int64_t final_id = 0;
};

class DeviceOps {
 public:
  DeviceOps(TraceDbWriter& store, const Database& db, std::int64_t device_id, std::int64_t begin_ns)
      : store_(store),
        device_id_(device_id),
        begin_ns_(begin_ns),
        name_of_(db.prepare("SELECT text FROM name WHERE id = ?")) {}

  // Tasks by (launch, start).
  void add(const Task& task) {
    const std::int64_t index = index_of(task);
    const std::size_t op = op_of(task, index, turn_of(task));
    tasks_.emplace_back(task.id, op);
    if (!task.is_master) return;
    Op& found = ops_[op];
    found.row.start_ns =
        found.has_master ? std::min(found.row.start_ns, task.start_ns) : task.start_ns;
    found.row.end_ns = found.has_master ? std::max(found.row.end_ns, task.end_ns) : task.end_ns;
    found.has_master = true;
    if (task.start_ns >= begin_ns_) add_span(task, op);
  }

  void write(std::int64_t& next_op_id, std::int64_t& next_span_id) {
    std::vector<std::size_t> order;
    for (std::size_t op = 0; op < ops_.size(); ++op)
      if (ops_[op].has_master) order.push_back(op);
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return ops_[a].row.start_ns < ops_[b].row.start_ns;
    });
    for (const std::size_t op : order) {
      ops_[op].row.id = ops_[op].final_id = next_op_id++;
      store_.add(ops_[op].row);
    }
    std::sort(tasks_.begin(), tasks_.end());
    for (const auto& [task_id, op] : tasks_)
      if (ops_[op].has_master) store_.add(CommOpTaskRow{task_id, ops_[op].final_id});
    write_spans(next_span_id);
  }

 private:
  struct Counter {
    std::int64_t begin_count = 0;
    std::int64_t index = -1;
  };
  struct OpName {
    std::string text;
    bool is_aicpu = false;
  };
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  const OpName& op_name(std::int64_t id) {
    const auto [at, is_new] = op_names_.try_emplace(id);
    if (!is_new || id == kNull) return at->second;
    name_of_.reset();
    name_of_.bind(1, id);
    if (name_of_.step()) at->second.text = name_of_.text(0);
    at->second.is_aicpu = at->second.text.find(kAicpuKernel) != std::string::npos;
    return at->second;
  }

  // Number of operators of the group that have begun before the task's.
  std::int64_t index_of(const Task& task) {
    Counter& counter = counters_[{op_name(task.op_name_id).is_aicpu, task.group_hash}];
    if (task.start_ns > begin_ns_ && task.op_begin_count > counter.begin_count) {
      counter.begin_count = task.op_begin_count;
      ++counter.index;
    }
    return counter.index;
  }

  // Number of times that the launch has been seen: a graph's tasks run repeatedly.
  std::int64_t turn_of(const Task& task) {
    if (task.host_count != launch_) turns_.clear();
    launch_ = task.host_count;
    return ++turns_[task.call_id];
  }

  std::size_t op_of(const Task& task, std::int64_t index, std::int64_t turn) {
    const std::tuple key(task.op_name_id, task.group_hash, index, turn);
    const auto [at, is_new] = numbers_.try_emplace(key, ops_.size());
    if (!is_new) return at->second;
    const std::string group = task.group_hash == kNull
                                  ? "N/A"
                                  : fmt::format("{}", static_cast<std::uint64_t>(task.group_hash));
    const std::string name =
        fmt::format("{}_{}_{}_{}", op_name(task.op_name_id).text,
                    group.substr(group.size() - std::min(group.size(), kGroupDigits)), index, turn);
    Op op;
    op.row.device_id = device_id_;
    op.row.name_id = store_.name_id(name);
    op.row.group_name_id = task.group_name_id;
    op.row.model_number = task.model_number;
    op.row.rank_size = task.rank_size;
    op.row.first_comm_call_id = task.call_id;
    ops_.push_back(op);
    return ops_.size() - 1;
  }

  void add_span(const Task& task, std::size_t op) {
    const auto [at, is_new] = spans_.try_emplace({op, task.op_begin_count, task.op_type_name_id});
    Span& span = at->second;
    span.start_ns = is_new ? task.start_ns : std::min(span.start_ns, task.start_ns);
    span.end_ns = is_new ? task.end_ns : std::max(span.end_ns, task.end_ns);
  }

  void write_spans(std::int64_t& next_id) {
    std::vector<CommSpanRow> rows;
    for (const auto& [key, span] : spans_) {
      rows.push_back({0, device_id_, std::get<2>(key), span.start_ns, span.end_ns - span.start_ns});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const CommSpanRow& a, const CommSpanRow& b) {
      return a.start_ns < b.start_ns;
    });
    for (CommSpanRow& row : rows) {
      row.id = next_id++;
      store_.add(row);
    }
  }

  TraceDbWriter& store_;
  std::int64_t device_id_;
  std::int64_t begin_ns_;
  Statement name_of_;
  std::map<std::int64_t, OpName> op_names_;
  std::map<std::pair<bool, std::int64_t>, Counter> counters_;
  std::int64_t launch_ = kNull;
  std::map<std::int64_t, std::int64_t> turns_;  // by call, of this launch
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::size_t>
      numbers_;
  std::vector<Op> ops_;
  std::vector<std::pair<std::int64_t, std::size_t>> tasks_;
  // By operator, begin of the call and its type.
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, Span> spans_;
};

std::vector<DeviceRun> device_runs(const Database& db) {
  std::vector<DeviceRun> runs;
  Statement read = db.prepare(
      "SELECT device_id, first_task_id, last_task_id FROM task_run"
      " WHERE device_id IS NOT NULL ORDER BY id");
  while (read.step()) runs.push_back({read.integer(0), read.integer(1), read.integer(2)});
  return runs;
}

}  // namespace

void derive_comm_ops(TraceDbWriter& store) {
  const Database& db = store.readable();
  const std::int64_t begin_ns = read_meta_integer(db, "window.begin_ns").value_or(0);
  std::int64_t next_op_id = 1;
  std::int64_t next_span_id = 1;
  for (const DeviceRun& run : device_runs(db)) {
    DeviceOps ops(store, db, run.device_id, begin_ns);
    Statement tasks = db.prepare(
        "SELECT t.id, t.start_ns, t.duration_ns, t.model_number, c.id, c.host_count,"
        " c.op_begin_count, c.op_name_id, c.op_type_name_id, c.is_master, c.group_hash,"
        " c.group_name_id, c.rank_size"
        " FROM comm_task AS m CROSS JOIN task AS t ON t.id = m.task_id"
        " CROSS JOIN comm_call AS c ON c.id = m.comm_call_id"
        " WHERE m.task_id BETWEEN ? AND ? ORDER BY c.host_count, t.start_ns, t.id");
    tasks.bind(1, run.first_task_id).bind(2, run.last_task_id);
    while (tasks.step()) ops.add(task_of(tasks));
    ops.write(next_op_id, next_span_id);
  }
}

}  // namespace msprof
