// Derives comm_op, comm_op_task, comm_span and comm_group: groups the tasks of collectives by
// operator. Source: cann_device.md 18.1, 18.2.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
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
constexpr std::size_t kGroupDigits = 3;  // digits of the group's hash used in names

// Fields of a collective's call that are used for its tasks.
struct Call {
  std::int64_t id = 0;
  std::int64_t host_count = 0;
  std::int64_t op_begin_count = 0;
  std::int64_t op_name_id = kNull;
  std::int64_t op_type_name_id = kNull;
  std::int64_t group_hash = kNull;
  std::int64_t group_name_id = kNull;
  std::int64_t rank_size = kNull;
  std::int64_t plane_id = kNull;
  std::int64_t op_group_name_id = kNull;
  bool is_master = false;
  bool has_item = false;
};

struct Task {
  const TaskSums::CommTask* times = nullptr;
  const Call* call = nullptr;
};

class Calls {
 public:
  explicit Calls(const Database& db) {
    RowCursor<CommCallRow> calls(
        db, {&CommCallRow::id, &CommCallRow::host_count, &CommCallRow::op_begin_count,
             &CommCallRow::op_name_id, &CommCallRow::op_type_name_id, &CommCallRow::is_master,
             &CommCallRow::group_hash, &CommCallRow::group_name_id, &CommCallRow::rank_size,
             &CommCallRow::item_name_id, &CommCallRow::plane_id, &CommCallRow::op_group_name_id});
    while (calls.next()) {
      Call call;
      call.id = calls->id;
      call.host_count = given(calls->host_count).value_or(0);
      call.op_begin_count = given(calls->op_begin_count).value_or(0);
      call.op_name_id = calls->op_name_id;
      call.op_type_name_id = calls->op_type_name_id;
      call.is_master = given(calls->is_master).value_or(0) != 0;
      call.group_hash = calls->group_hash;
      call.group_name_id = calls->group_name_id;
      call.rank_size = calls->rank_size;
      call.has_item = calls->item_name_id != kNull;
      call.plane_id = calls->plane_id;
      call.op_group_name_id = calls->op_group_name_id;
      calls_.push_back(call);
    }
  }

  // Returns the tasks of a run that have a call, with the call, sorted by (launch, start, id).
  std::vector<Task> list_tasks(const TaskSums::Run& run) const {
    std::vector<Task> tasks;
    tasks.reserve(run.comm_tasks.size());
    for (const TaskSums::CommTask& times : run.comm_tasks) {
      const auto call =
          std::lower_bound(calls_.begin(), calls_.end(), times.call_id,
                           [](const Call& one, std::int64_t id) { return one.id < id; });
      if (call != calls_.end() && call->id == times.call_id) tasks.push_back({&times, &*call});
    }
    std::sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
      return std::tie(a.call->host_count, a.times->start_ns, a.times->id) <
             std::tie(b.call->host_count, b.times->start_ns, b.times->id);
    });
    return tasks;
  }

 private:
  std::deque<Call> calls_;  // sorted by id
};

struct Op {
  CommOpRow row;
  std::int64_t group_name_id = kNull;  // from the hccl_op_info of the call
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

  // Adds a task. Tasks must be added in order of (launch, start).
  void add(const Task& task) {
    const TaskSums::CommTask& times = *task.times;
    const Call& call = *task.call;
    const std::int64_t index = op_index(task);
    const std::size_t op = find_or_add_op(task, index, count_turn(call));
    tasks_.emplace_back(times.id, op);
    if (!call.is_master) return;
    Op& found = ops_[op];
    found.row.start_ns =
        found.has_master ? std::min(found.row.start_ns, times.start_ns) : times.start_ns;
    found.row.end_ns = found.has_master ? std::max(found.row.end_ns, times.end_ns) : times.end_ns;
    found.has_master = true;
    if (times.start_ns >= begin_ns_) add_span(task, op);
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

  // Returns the index of the task's operator among those of its group, in order of start.
  std::int64_t op_index(const Task& task) {
    const Call& call = *task.call;
    Counter& counter = counters_[{op_name(call.op_name_id).is_aicpu, call.group_hash}];
    if (task.times->start_ns > begin_ns_ && call.op_begin_count > counter.begin_count) {
      counter.begin_count = call.op_begin_count;
      ++counter.index;
    }
    return counter.index;
  }

  // Counts the repetitions of the call within one launch: the tasks of a graph run repeatedly.
  std::int64_t count_turn(const Call& call) {
    if (call.host_count != launch_) turns_.clear();
    launch_ = call.host_count;
    return ++turns_[call.id];
  }

  std::size_t find_or_add_op(const Task& task, std::int64_t index, std::int64_t turn) {
    const Call& call = *task.call;
    const std::tuple key(call.op_name_id, call.group_hash, index, turn);
    const auto [at, is_new] = numbers_.try_emplace(key, ops_.size());
    if (!is_new) return at->second;
    const std::string group = call.group_hash == kNull
                                  ? "N/A"
                                  : fmt::format("{}", static_cast<std::uint64_t>(call.group_hash));
    const std::string name =
        fmt::format("{}_{}_{}_{}", op_name(call.op_name_id).text,
                    group.substr(group.size() - std::min(group.size(), kGroupDigits)), index, turn);
    Op op;
    op.row.device_id = device_id_;
    op.row.name_id = store_.name_id(name);
    op.row.group_name_id = call.group_name_id;
    op.row.model_number = task.times->model_number;
    op.row.rank_size = call.rank_size;
    op.row.first_comm_call_id = call.id;
    op.group_name_id = call.op_group_name_id;
    ops_.push_back(op);
    return ops_.size() - 1;
  }

  void add_span(const Task& task, std::size_t op) {
    const TaskSums::CommTask& times = *task.times;
    const auto [at, is_new] =
        spans_.try_emplace({op, task.call->op_begin_count, task.call->op_type_name_id});
    Span& span = at->second;
    span.start_ns = is_new ? times.start_ns : std::min(span.start_ns, times.start_ns);
    span.end_ns = is_new ? times.end_ns : std::max(span.end_ns, times.end_ns);
  }

  void write_spans(std::int64_t& next_id) {
    std::vector<CommSpanRow> rows;
    for (const auto& [key, span] : spans_) {
      rows.push_back({0, device_id_, std::get<2>(key), span.start_ns,
                      saturating_subtract(span.end_ns, span.start_ns)});
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
  std::map<std::int64_t, std::int64_t> turns_;  // by call, within this launch
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, std::size_t>
      numbers_;
  std::vector<Op> ops_;
  std::vector<std::pair<std::int64_t, std::size_t>> tasks_;
  // By operator, start of the call, and type of the call.
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
    for (const Task& task : calls.list_tasks(run)) {
      ops.add(task);
      if (!task.call->has_item) continue;
      const auto group = groups.try_emplace({run.device_id, task.call->group_name_id}, kNull).first;
      group->second = std::max(group->second, task.call->plane_id);
    }
    ops.write(next_op_id, next_span_id, groups);
  }
  std::int64_t next_group_id = 1;
  for (const auto& [key, plane] : groups)
    store.add(CommGroupRow{next_group_id++, key.first, key.second, plane});
}

}  // namespace msprof
