// Layer ascend_hardware: tasks on the device, a stream each, and the ends of the arrows to them.
// Sources: cann_device.md 23, cann_corrections.md J-A2 (ends), J-A3 (Task Type), J-A4 (logic
// streams), J-B8 and J-B9 (what is left out), J-B15 (no connection), J-C6 (hidden outer tasks). The
// arguments of CANN 5 are those of timelines that it wrote.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "derive/pmu_metrics.hpp"
#include "export/cann_counters.hpp"
#include "export/products.hpp"
#include "export/timeline/cann_arrows.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

constexpr std::string_view kNoConnection = "18446744073709551615";

constexpr const char* kTasks =
    "SELECT id, start_ns, duration_ns, stream_id, task_number, batch, context, host_type_name_id,"
    " device_type_name_id, op_id, model_number, api_id FROM task"
    " WHERE id BETWEEN ? AND ? AND device_type_name_id IS NOT NULL ORDER BY id";
enum Cell : int {
  kId,
  kStart,
  kDuration,
  kStream,
  kNumber,
  kBatch,
  kContext,
  kHostType,
  kDeviceType,
  kOp,
  kModel,
  kCall
};

std::int64_t cell(const Statement& row, int column) {
  return row.maybe_integer(column).value_or(kNull);
}

// A row of kTasks, each cell read once.
struct Task {
  explicit Task(const Statement& row)
      : id(row.integer(kId)),
        start_ns(row.integer(kStart)),
        duration_ns(row.integer(kDuration)),
        stream(row.integer(kStream)),
        number(row.integer(kNumber)),
        batch(row.integer(kBatch)),
        context(cell(row, kContext)),
        host_type(cell(row, kHostType)),
        device_type(row.integer(kDeviceType)),
        op(cell(row, kOp)),
        model(cell(row, kModel)),
        call(cell(row, kCall)) {}

  std::int64_t id, start_ns, duration_ns, stream, number, batch, context, host_type, device_type,
      op, model, call;
};

// What a MEMCPY_ASYNC task copied, by id of the task.
class Copies {
 public:
  explicit Copies(const Database& db)
      : read_(db.prepare("SELECT task_id, size_bytes, direction FROM memcpy_task"
                         " WHERE task_id >= ? ORDER BY task_id")) {}

  // Tasks are asked for in the order of their ids.
  void write(std::int64_t task_id, std::int64_t duration_ns, TraceJsonWriter& out) {
    if (!is_open_) {
      read_.bind(1, task_id);
      is_open_ = true;
      has_row_ = read_.step();
    }
    while (has_row_ && read_.integer(0) < task_id) has_row_ = read_.step();
    const bool is_known = has_row_ && read_.integer(0) == task_id;
    const std::int64_t bytes = is_known ? read_.integer(1) : 0;
    out.argument({"\"size(B)\""}, bytes);
    out.argument_number(
        {"\"bandwidth(GB/s)\""},
        duration_ns == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(duration_ns));
    out.argument_text({"\"operation\""}, cann::text_of(cann::copy_directions(),
                                                       is_known ? read_.integer(2) : -1, "other"));
  }

 private:
  Statement read_;
  bool is_open_ = false;
  bool has_row_ = false;
};

// The tasks of one device that have sub tasks: 16 bytes for each.
class OuterTasks {
 public:
  OuterTasks(const Database& db, std::int64_t first_task, std::int64_t last_task) {
    Statement read = db.prepare(
        "SELECT stream_id, batch, task_number FROM task WHERE id BETWEEN ? AND ?"
        " AND context IS NOT NULL AND device_type_name_id IS NOT NULL ORDER BY id");
    read.bind(1, first_task).bind(2, last_task);
    while (read.step()) {
      const Key key = key_of(read.integer(0), read.integer(1), read.integer(2));
      if (keys_.empty() || keys_.back() != key) keys_.push_back(key);
    }
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }

  bool has(const Task& task) const {
    return !keys_.empty() && std::binary_search(keys_.begin(), keys_.end(),
                                                key_of(task.stream, task.batch, task.number));
  }

 private:
  using Key = std::pair<std::uint64_t, std::int64_t>;
  // Streams and batches have 32 bits at most.
  static Key key_of(std::int64_t stream, std::int64_t batch, std::int64_t number) {
    return {static_cast<std::uint64_t>(stream) << 32 ^ static_cast<std::uint64_t>(batch), number};
  }
  std::vector<Key> keys_;
};

// Aicore Time and Total Cycle of tasks, as CANN 5 wrote them. Its label says ms, its number is us:
// readers look it up by that name and know.
class CoreTimes {
 public:
  explicit CoreTimes(const Database& db)
      : metrics_(db),
        values_(metrics_.columns().size()),
        counters_(db),
        of_op_(
            db.prepare("SELECT block_num, mix_block_num, unit.text IN ('AI_CPU', 'DSA_SQE', 'DVPP')"
                       " FROM op LEFT JOIN name AS unit ON unit.id = op.unit_name_id"
                       " WHERE op.id = ?")) {
    // Chips with two kinds of cores have both columns twice.
    for (const auto& [time, cycles] : {std::pair("aicore_time(us)", "total_cycles"),
                                       {"aicore_time(us)", "aic_total_cycles"},
                                       {"aiv_time(us)", "aiv_total_cycles"}}) {
      const auto at = [&](std::string_view name) {
        const auto& all = metrics_.columns();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const PmuColumn& one) { return one.name == name; });
        return static_cast<std::size_t>(found - all.begin());
      };
      if (at(cycles) < values_.size() && at(time) < values_.size()) {
        sides_.emplace_back(at(time), at(cycles));
      }
    }
  }

  // Tasks are asked for in the order of their ids.
  void write(const Task& task, std::int64_t device, TraceJsonWriter& out) {
    const std::int64_t* counters = sides_.empty() ? nullptr : counters_.of(task.id);
    if (counters == nullptr) return write_missing(out);
    PmuTask load{.counters = counters, .duration_ns = task.duration_ns};
    if (task.op != kNull) {
      of_op_.reset();
      of_op_.bind(1, task.op);
      if (of_op_.step()) {
        // What never runs on the cores has none, whatever was recorded within it.
        if (of_op_.integer(2) != 0) return write_missing(out);
        load.block_num = of_op_.integer(0);
        load.mix_block_num = of_op_.integer(1);
      }
    }
    metrics_.evaluate(device, load, values_);
    // The side that ran.
    const auto side = *std::max_element(sides_.begin(), sides_.end(), [&](auto a, auto b) {
      return values_[a.second] < values_[b.second];
    });
    const double us = values_[side.first];
    const double cycles = values_[side.second];
    if (!std::isfinite(us) || !std::isfinite(cycles)) return write_missing(out);
    out.argument_number({kTime}, std::round(us * 1000) / 1000);
    out.argument({kCycles}, std::llround(std::clamp(cycles, 0.0, 9e18)));
  }

 private:
  static constexpr std::string_view kTime = "\"Aicore Time(ms)\"";
  static constexpr std::string_view kCycles = "\"Total Cycle\"";
  static void write_missing(TraceJsonWriter& out) {
    out.argument({kTime}, JsonText{"\"N/A\""});
    out.argument({kCycles}, JsonText{"\"N/A\""});
  }

  PmuMetrics metrics_;
  std::vector<double> values_;
  cann::TaskCounters counters_;
  Statement of_op_;
  std::vector<std::pair<std::size_t, std::size_t>> sides_;  // columns of time and cycles
};

// What tasks of one kind on one stream have in common, as text.
struct TaskText {
  std::string head;
  std::string arguments;
  TraceLane lane;
};

class TaskTexts {
 public:
  TaskTexts(const Database& db, std::int64_t pid, bool is_cann5)
      : db_(db),
        pid_(pid),
        is_cann5_(is_cann5),
        texts_(db, cann::TextForm::json),
        types_(db),
        copy_(cann::name_id_of(db, "MEMCPY_ASYNC")),
        simt_(cann::name_id_of(db, "KERNEL_SIMT")),
        of_op_(db.prepare("SELECT name_id, unit_name_id, grid_dim_name_id, block_dim_name_id"
                          " FROM op WHERE id = ?")) {
    Statement read =
        db.prepare("SELECT stream_id, logic_stream_id FROM logic_stream ORDER BY stream_id");
    while (read.step()) {
      if (!read.is_null(1)) logic_streams_[read.integer(0)] = read.integer(1);
    }
  }

  // Valid until the next call.
  const TaskText& operator()(const Task& task) {
    const Key key{task.stream, task.host_type, task.device_type, task.op,
                  task.model == kNull ? cann::kNoModel : task.model};
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (known_.size() >= kMostKinds) known_.clear();
    return known_[key] = text_of(key);
  }

  bool is_copy(const Task& task) const { return task.host_type == copy_; }
  // Dimensions of a SIMT kernel.
  void write_dimensions(const Task& task, TraceJsonWriter& out) {
    if (task.host_type != simt_ || task.op == kNull) return;
    read_op(task.op);
    for (const int column : {2, 3}) {
      if (of_op_.is_null(column)) continue;
      out.argument({column == 2 ? "\"Grid Dim\"" : "\"Block Dim\""},
                   {texts_(of_op_.integer(column))});
    }
  }
  const std::set<std::int64_t>& streams() const { return streams_; }

 private:
  static constexpr std::size_t kMostKinds = 1 << 15;
  // All that the text depends on.
  struct Key {
    std::int64_t stream = 0;
    std::int64_t host_type = kNull;
    std::int64_t device_type = kNull;
    std::int64_t op = kNull;
    std::int64_t model = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return cann::hash_of({key.stream, key.host_type, key.device_type, key.op, key.model});
    }
  };

  void read_op(std::int64_t id) {
    of_op_.reset();
    of_op_.bind(1, id);
    if (!of_op_.step()) throw db_.damaged("a task of no known operator");
  }

  TaskText text_of(const Key& key) {
    TaskText text;
    const auto logic = logic_streams_.find(key.stream);
    const std::int64_t stream = logic == logic_streams_.end() ? key.stream : logic->second;
    streams_.insert(stream);
    text.lane = {pid_, stream};
    const std::int64_t effective = types_.effective(key.host_type, key.device_type);
    std::int64_t name = effective;
    std::int64_t type = effective;
    if (key.op != kNull) {
      read_op(key.op);
      name = cell(of_op_, 0);
      type = types_.shown(cell(of_op_, 1), key.host_type, key.device_type);
    }
    if (key.host_type == copy_) type = key.device_type;
    text.head = TraceJsonWriter::slice_head({texts_(name)}, text.lane);
    if (is_cann5_) {
      text.arguments = "\"Task Type\":" + texts_(type);
      text.arguments += ",\"Stream Id\":" + std::to_string(key.stream);
      return text;
    }
    text.arguments = "\"Model Id\":" + std::to_string(key.model);
    text.arguments += ",\"Task Type\":" + texts_(type);
    text.arguments += ",\"Physic Stream Id\":" + std::to_string(key.stream);
    return text;
  }

  const Database& db_;
  std::int64_t pid_;
  bool is_cann5_;
  cann::Texts texts_;
  cann::TaskTypes types_;
  std::int64_t copy_;
  std::int64_t simt_;
  Statement of_op_;
  std::map<std::int64_t, std::int64_t> logic_streams_;
  std::unordered_map<Key, TaskText, KeyHash> known_;
  std::set<std::int64_t> streams_;
};

// Writes the tasks of one run of neighbours.
class DeviceWriter {
 public:
  DeviceWriter(const Database& db, const ExportScope& scope, const cann::ArrowEnds* ends,
               std::int64_t device, std::int64_t pid, bool is_cann5)
      : db_(db),
        scope_(scope),
        is_limited_(!scope.is_everything()),
        ends_(ends),
        device_(device),
        begin_ns_(cann::window_begin_ns(db)),
        texts_(db, pid, is_cann5) {
    if (is_cann5) core_times_.emplace(db);
  }

  void write(std::int64_t first_task, std::int64_t last_task, TraceJsonWriter& out) {
    const OuterTasks outer(db_, first_task, last_task);
    Copies copies(db_);
    Statement read = db_.prepare(kTasks);
    read.bind(1, first_task).bind(2, last_task);
    while (read.step()) {
      const Task task(read);
      const bool is_copy = texts_.is_copy(task);
      const bool is_hidden = !is_copy && task.context == kNull && outer.has(task);
      if (!is_hidden && is_drawn(task)) write_task(task, is_copy ? &copies : nullptr, out);
    }
  }

  const std::set<std::int64_t>& streams() const { return texts_.streams(); }

 private:
  bool is_drawn(const Task& task) const {
    const std::int64_t end = cann::plus_ns(task.start_ns, task.duration_ns);
    if (end < begin_ns_) return false;
    return !is_limited_ ||
           (scope_.takes(device_, task.start_ns, end) && scope_.takes_length(task.duration_ns) &&
            scope_.takes_model(task.model == kNull ? std::nullopt : std::optional(task.model)));
  }

  // `copies` for a task that copied.
  void write_task(const Task& task, Copies* copies, TraceJsonWriter& out) {
    const TaskText& text = texts_(task);
    out.begin_slice(text.head, task.start_ns, task.duration_ns, text.arguments);
    out.argument({"\"Task Id\""}, task.number);
    out.argument({"\"Batch Id\""}, task.batch);
    if (core_times_) {
      core_times_->write(task, device_, out);
    } else {
      write_rest(task, copies, out);
    }
    out.end_slice();
    const char phase = ends_ == nullptr ? char{0} : ends_->phase_of_task(task.id, task.call);
    if (phase != 0) cann::write_arrow(out, phase, text.lane, task.call, task.start_ns);
  }

  void write_rest(const Task& task, Copies* copies, TraceJsonWriter& out) {
    out.argument({"\"Subtask Id\""}, task.context == kNull ? cann::kNoContext : task.context);
    if (task.call == kNull) {
      out.argument_digits({"\"connection_id\""}, kNoConnection);
    } else {
      out.argument({"\"connection_id\""}, task.call);
    }
    if (copies != nullptr) copies->write(task.id, task.duration_ns, out);
    texts_.write_dimensions(task, out);
  }

  const Database& db_;
  const ExportScope& scope_;
  bool is_limited_;
  const cann::ArrowEnds* ends_;  // null: no arrows
  std::int64_t device_;
  std::int64_t begin_ns_;
  TaskTexts texts_;
  std::optional<CoreTimes> core_times_;  // of CANN 5
};

class CannHardware : public cann::Layer {
 public:
  CannHardware()
      : Layer({.name = "ascend_hardware",
               .help = "tasks on the device, a stream each",
               .exists = "SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
               .needs = kDeviceLogs,
               .cann5_topics = {{1, "ai_stack_time"}, {3, "task_time"}}}) {}

  void write(const Database& db, const Document& document, TraceJsonWriter& out) const override {
    const cann::TraceProcesses processes(db);
    std::optional<cann::ArrowEnds> ends;
    if (document.has_arrows) ends.emplace(db, document.scope, cann::EndsOf::tasks);
    Statement runs = db.prepare(
        "SELECT device_id, first_task_id, last_task_id FROM task_run"
        " ORDER BY device_id, first_task_id");
    std::optional<DeviceWriter> writer;
    std::int64_t device = -1;
    const auto write_metadata = [&] {
      processes.write(out, cann::TraceProcess::hardware, device, "Ascend Hardware", "Stream",
                      writer->streams());
    };
    while (runs.step()) {
      if (runs.integer(0) != device || !writer) {
        if (writer) write_metadata();
        device = runs.integer(0);
        writer.emplace(db, document.scope, ends ? &*ends : nullptr, device,
                       processes.pid(cann::TraceProcess::hardware, device), document.is_cann5);
      }
      if (document.scope.takes_device(device)) {
        writer->write(runs.integer(1), runs.integer(2), out);
      }
    }
    if (writer) write_metadata();
  }
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_hardware() {
  return std::make_unique<CannHardware>();
}

}  // namespace msprof
