// comm_op, comm_op_task, comm_span, comm_group: the tasks of collectives put together to operators.
// Source: cann_device.md 18.1, 18.2.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "derive/task_sums.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

constexpr std::string_view kAicpuKernel = "AicpuKernel";
constexpr std::size_t kGroupDigits = 3;  // of the group's hash, in names

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
  bool has_item = false;
  std::int64_t plane_id = kNull;
  std::int64_t op_group_name_id = kNull;
};

// What tasks need of the calls of collectives.
class Calls {
 public:
  explicit Calls(const Database& db) {
    RowCursor<CommCallRow> calls(
        db, {&CommCallRow::id, &CommCallRow::host_count, &CommCallRow::op_begin_count,
             &CommCallRow::op_name_id, &CommCallRow::op_type_name_id, &CommCallRow::is_master,
             &CommCallRow::group_hash, &CommCallRow::group_name_id, &CommCallRow::rank_size,
             &CommCallRow::item_name_id, &CommCallRow::plane_id, &CommCallRow::op_group_name_id});
    while (calls.next()) {
      Task task;
      task.call_id = calls->id;
      task.host_count = given(calls->host_count).value_or(0);
      task.op_begin_count = given(calls->op_begin_count).value_or(0);
      task.op_name_id = calls->op_name_id;
      task.op_type_name_id = calls->op_type_name_id;
      task.is_master = given(calls->is_master).value_or(0) != 0;
      task.group_hash = calls->group_hash;
      task.group_name_id = calls->group_name_id;
      task.rank_size = calls->rank_size;
      task.has_item = calls->item_name_id != kNull;
      task.plane_id = calls->plane_id;
      task.op_group_name_id = calls->op_group_name_id;
      calls_.push_back(task);
    }
  }

  // The tasks of a run with the facts of their calls, by (launch, start, id). A task whose call is
  // not there is left out.
  std::vector<Task> tasks_of(const TaskSums::Run& run) const {
    std::vector<Task> tasks;
    tasks.reserve(run.comm_tasks.size());
    for (const TaskSums::CommTask& times : run.comm_tasks) {
      const auto call =
          std::lower_bound(calls_.begin(), calls_.end(), times.call_id,
                           [](const Task& one, std::int64_t id) { return one.call_id < id; });
      if (call == calls_.end() || call->call_id != times.call_id) continue;
      Task& task = tasks.emplace_back(*call);
      task.id = times.id;
      task.start_ns = times.start_ns;
      task.end_ns = times.end_ns;
      task.model_number = times.model_number;
    }
    std::sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
      return std::tie(a.host_count, a.start_ns, a.id) < std::tie(b.host_count, b.start_ns, b.id);
    });
    return tasks;
  }

 private:
  std::vector<Task> calls_;  // by call_id; without what tasks have of their own
};

// One of our operators, while its tasks are found.
struct Op {
  CommOpRow row;
  std::int64_t group_name_id = kNull;  // of its hccl_op_info
  bool has_master = false;
  std::int64_t final_id = 0;
};

// The largest plane of each group on each device.
using Groups = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

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

  void write(std::int64_t& next_op_id, std::int64_t& next_span_id, Groups& groups) {
    std::vector<std::size_t> order;
    for (std::size_t op = 0; op < ops_.size(); ++op)
      if (ops_[op].has_master) order.push_back(op);
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return ops_[a].row.start_ns < ops_[b].row.start_ns;
    });
    for (const std::size_t op : order) {
      ops_[op].row.id = ops_[op].final_id = next_op_id++;
      store_.add(ops_[op].row);
      groups.try_emplace({device_id_, ops_[op].group_name_id}, kNull);
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
    op.group_name_id = task.op_group_name_id;
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

}  // namespace

void derive_comm_ops(TraceDbWriter& store, const TaskSums& tasks) {
  const bool has_any = std::any_of(tasks.runs.begin(), tasks.runs.end(),
                                   [](const auto& run) { return !run.comm_tasks.empty(); });
  if (!has_any) return;
  const Database& db = store.readable();
  const std::int64_t begin_ns = read_meta_integer(db, "window.begin_ns").value_or(0);
  const Calls calls(db);
  Groups groups;
  std::int64_t next_op_id = 1;
  std::int64_t next_span_id = 1;
  for (const TaskSums::Run& run : tasks.runs) {
    DeviceOps ops(store, db, run.device_id, begin_ns);
    for (const Task& task : calls.tasks_of(run)) {
      ops.add(task);
      if (!task.has_item) continue;
      const auto group = groups.try_emplace({run.device_id, task.group_name_id}, kNull).first;
      group->second = std::max(group->second, task.plane_id);
    }
    ops.write(next_op_id, next_span_id, groups);
  }
  std::int64_t next_group_id = 1;
  for (const auto& [key, plane] : groups)
    store.add(CommGroupRow{next_group_id++, key.first, key.second, plane});
}

}  // namespace msprof
