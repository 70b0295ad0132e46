// task_time: one row a task of any kind, in the order of their starts over all devices.
#include <algorithm>
#include <queue>
#include <unordered_map>

#include "base/saturating.hpp"
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

// A task as the runtime numbers it; its sub tasks share the key.
struct TaskKey {
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t task = 0;
  std::int64_t batch = 0;
  bool operator==(const TaskKey&) const = default;
};

struct TaskKeyHash {
  std::size_t operator()(const TaskKey& key) const {
    return cann::hash_of({key.device, key.stream, key.task, key.batch});
  }
};

// Which tasks stand for their sub tasks: of a key whose context 0 comes before any other one, only
// the rows of context 0 are printed (cann_corrections.md A6).
class SubTasks {
 public:
  explicit SubTasks(const Database& db) {
    Statement read = db.prepare(
        "SELECT device_id, stream_id, task_number, batch, context FROM task"
        " WHERE context IS NOT NULL ORDER BY id");
    while (read.step()) {
      const TaskKey key{read.integer(0), read.integer(1), read.integer(2), read.integer(3)};
      only_first_.try_emplace(key, read.integer(4) == 0);
    }
  }

  bool empty() const { return only_first_.empty(); }
  bool is_hidden(const TaskKey& key, std::optional<std::int64_t> context) const {
    if (context == 0) return false;
    const auto at = only_first_.find(key);
    return at != only_first_.end() && at->second;
  }

 private:
  std::unordered_map<TaskKey, bool, TaskKeyHash> only_first_;
};

constexpr const char* kTasks =
    "SELECT device_id, stream_id, task_number, batch, context, start_ns, duration_ns,"
    " host_type_name_id, device_type_name_id, kernel_name_id, op_id,"
    " model_number FROM task"
    " WHERE id BETWEEN ? AND ? AND device_type_name_id IS NOT NULL ORDER BY id";
enum Cell : int {
  kDevice,
  kStream,
  kTask,
  kBatch,
  kContext,
  kStart,
  kDuration,
  kHostType,
  kDeviceType,
  kKernel,
  kOp,
  kModel
};

// The tasks of one device that are printed, in order of their starts.
class DeviceTasks {
 public:
  DeviceTasks(const Database& db, const SubTasks& sub_tasks, const cann::ScopeFilter& scope,
              std::int64_t first, std::int64_t last)
      : read_(db.prepare(kTasks)),
        sub_tasks_(sub_tasks),
        scope_(scope),
        begin_ns_(cann::window_begin_ns(db)) {
    read_.bind(1, first).bind(2, last);
  }

  bool next() {
    while (read_.step()) {
      start_ns = read_.integer(kStart);
      if (saturating_add(start_ns, read_.integer(kDuration)) < begin_ns_) continue;
      if (!scope_.takes_for(read_.integer(kDevice), start_ns, read_.integer(kDuration)) ||
          !scope_.takes_model(read_.maybe_integer(kModel))) {
        continue;
      }
      if (sub_tasks_.empty()) return true;
      const TaskKey key{read_.integer(kDevice), read_.integer(kStream), read_.integer(kTask),
                        read_.integer(kBatch)};
      if (!sub_tasks_.is_hidden(key, read_.maybe_integer(kContext))) return true;
    }
    return false;
  }

  const Statement& row() const { return read_; }
  std::int64_t start_ns = 0;

 private:
  Statement read_;
  const SubTasks& sub_tasks_;
  cann::ScopeFilter scope_;
  std::int64_t begin_ns_;
};

std::vector<DeviceTasks> tasks_by_device(const Database& db, const SubTasks& sub_tasks,
                                         const cann::ScopeFilter& scope) {
  std::vector<DeviceTasks> devices;
  Statement runs = db.prepare(
      "SELECT first_task_id, last_task_id, device_id FROM task_run ORDER BY device_id, "
      "first_task_id");
  while (runs.step()) {
    if (!runs.is_null(2) && !scope.takes_device(runs.integer(2))) continue;
    devices.emplace_back(db, sub_tasks, scope, runs.integer(0), runs.integer(1));
  }
  return devices;
}

// Names and types of tasks, formatted once for all tasks that have the same.
class TaskTexts {
 public:
  explicit TaskTexts(const Database& db)
      : texts_(db),
        types_(db),
        of_op_(db.prepare("SELECT name_id, unit_name_id FROM op WHERE id = ?")) {}

  // The cells kernel_name and kernel_type.
  void write(TableWriter& out, const Statement& row) {
    constexpr std::size_t kMostKinds = 1 << 16;
    const Kind kind{cell(row, kKernel), cell(row, kHostType), cell(row, kDeviceType),
                    cell(row, kOp)};
    if (cells_.size() >= kMostKinds) cells_.clear();
    out.repeated(cells_[kind], 2, [&] {
      const Op op = kind.op == kNull ? Op() : op_of(kind.op);
      cann::text_or_missing(out, texts_, value(name_of(kind, op)));
      cann::text_or_missing(out, texts_,
                            value(types_.shown(op.unit, kind.host_type, kind.device_type)));
    });
  }

 private:
  struct Op {
    std::int64_t name = kNull;
    std::int64_t unit = kNull;
  };
  // All that the two texts depend on.
  struct Kind {
    std::int64_t kernel = kNull;
    std::int64_t host_type = kNull;
    std::int64_t device_type = kNull;
    std::int64_t op = kNull;
    bool operator==(const Kind&) const = default;
  };
  struct KindHash {
    std::size_t operator()(const Kind& kind) const {
      return cann::hash_of({kind.kernel, kind.host_type, kind.device_type, kind.op});
    }
  };

  static std::int64_t cell(const Statement& row, int column) {
    return row.maybe_integer(column).value_or(kNull);
  }
  static std::optional<std::int64_t> value(std::int64_t id) {
    return id == kNull ? std::nullopt : std::optional(id);
  }

  // A task that the host told of has the kernel's name or none.
  static std::int64_t name_of(const Kind& kind, const Op& op) {
    return kind.kernel == kNull && kind.host_type == kNull ? op.name : kind.kernel;
  }

  Op op_of(std::int64_t id) {
    of_op_.reset();
    of_op_.bind(1, id);
    if (!of_op_.step()) return {};
    return {cell(of_op_, 0), cell(of_op_, 1)};
  }

  cann::Texts texts_;
  cann::TaskTypes types_;
  Statement of_op_;
  std::unordered_map<Kind, std::string, KindHash> cells_;
};

class CannTaskTime : public cann::Table {
 public:
  CannTaskTime()
      : Table({.name = "task_time",
               .title = "Task time",
               .help = "start, end and kernel of every task on the device",
               .exists = "SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
               .needs = kDeviceLogs,
               .cann5_place = 7},
              {"Device_id", "kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)",
               "task_start(us)", "task_stop(us)"}) {}

  void write(const Database& db, const Document& document, TableWriter& out) const override {
    const SubTasks sub_tasks(db);
    auto devices = tasks_by_device(db, sub_tasks, cann::ScopeFilter(document));
    // Next start and number of each device that has tasks left.
    using Head = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].next()) heads.emplace(devices[i].start_ns, i);
    }
    TaskTexts texts(db);
    while (!heads.empty()) {
      const std::size_t i = heads.top().second;
      heads.pop();
      write_row(out, devices[i].row(), texts);
      if (devices[i].next()) heads.emplace(devices[i].start_ns, i);
    }
  }

 private:
  static void write_row(TableWriter& out, const Statement& row, TaskTexts& texts) {
    const std::int64_t start = row.integer(kStart);
    const std::int64_t duration = row.integer(kDuration);
    out.number(row.integer(kDevice));
    texts.write(out, row);
    out.number(row.integer(kStream));
    out.number(row.integer(kTask));
    cann::us_number(out, duration);
    cann::us_timestamp(out, start);
    cann::us_timestamp(out, saturating_add(start, duration));
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_task_time() {
  return std::make_unique<CannTaskTime>();
}

}  // namespace msprof
