// Layer ascend_hardware: tasks on the device, one track per stream, and the ends of the arrows to
// them. Source: cann_device.md 14.3 (types), 14.5 (omitted rows), 23.2, 23.3 (ends).
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/recent_map.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/timeline/cann_arrows.hpp"
#include "export/timeline/cann_forms.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof {

namespace {

constexpr std::string_view kNoConnection = "18446744073709551615";

// Writes the copies of MEMCPY_ASYNC tasks, by task id.
class Copies {
 public:
  explicit Copies(const Database& db)
      : read_(db.prepare("SELECT task_id, size_bytes, direction FROM memcpy_task"
                         " WHERE task_id >= ? ORDER BY task_id")) {}

  // Must be called in ascending order of task ids.
  void write(std::int64_t task_id, std::int64_t duration_ns, TraceWriter& out) {
    if (!is_open_) {
      read_.bind(1, task_id);
      is_open_ = true;
      has_row_ = read_.step();
    }
    while (has_row_ && read_.integer(0) < task_id) has_row_ = read_.step();
    const bool is_known = has_row_ && read_.integer(0) == task_id;
    const std::int64_t bytes = is_known ? read_.integer(1) : 0;
    out.argument("size(B)", bytes);
    out.argument_number(
        "bandwidth(GB/s)",
        duration_ns == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(duration_ns));
    out.argument("operation", cann::find_text(cann::copy_directions(),
                                              is_known ? read_.integer(2) : -1, "other"));
  }

 private:
  Statement read_;
  bool is_open_ = false;
  bool has_row_ = false;
};

// The tasks that have sub-tasks, read by the first chunk that needs them.
class OuterTasks {
 public:
  const cann::IdBits& get(const Database& db) {
    std::call_once(once_, [&] {
      tasks_.emplace(db, TaskRow::kTable);
      tasks_->read_marks(&TaskMarkRow::outer_tasks);
    });
    return *tasks_;
  }

 private:
  std::once_flag once_;
  std::optional<cann::IdBits> tasks_;
};

// Texts shared by tasks of one kind.
struct TaskText {
  SharedText name;
  SharedText type;
};

// Texts shared by tasks of one stream.
struct StreamText {
  TraceLane lane;
  bool is_drawn = false;  // at least once
};

// Task types that texts depend on, as ids. Looked up once, because names have no index.
struct HardwareNames {
  explicit HardwareNames(const Database& db)
      : types(db),
        copy(cann::find_name_id(db, "MEMCPY_ASYNC")),
        simt(cann::find_name_id(db, "KERNEL_SIMT")) {}

  cann::TaskTypes types;
  std::int64_t copy;
  std::int64_t simt;
};

class SliceTexts {
 public:
  SliceTexts(const Database& db, std::int64_t pid, const cann::TaskForm& form,
             const HardwareNames& names)
      : db_(db),
        pid_(pid),
        form_(form),
        texts_(db),
        names_(names),
        of_op_(db.prepare("SELECT name_id, unit_name_id, grid_dim_name_id, block_dim_name_id"
                          " FROM op WHERE id = ?")) {
    Statement read =
        db.prepare("SELECT stream_id, logic_stream_id FROM logic_stream ORDER BY stream_id");
    while (read.step()) {
      if (!read.is_null(1)) logic_streams_[read.integer(0)] = read.integer(1);
    }
  }

  // Valid until the next call.
  TaskText& operator()(const TaskRow& task) {
    const SliceTextKey key{task.host_type_name_id, task.device_type_name_id, task.op_id};
    return known_.get(key, [this](const SliceTextKey& missing) { return make_text(missing); });
  }

  StreamText& find_stream_text(const TaskRow& task) {
    return stream_texts_.get(task.stream_id,
                             [this](std::int64_t missing) { return make_stream_text(missing); });
  }

  bool is_copy(const TaskRow& task) const { return task.host_type_name_id == names_.copy; }
  void write_dimensions(const TaskRow& task, TraceWriter& out) {
    if (task.host_type_name_id != names_.simt || task.op_id == kNull) return;
    read_op(task.op_id);
    for (const int column : {2, 3}) {
      if (of_op_.is_null(column)) continue;
      out.argument(column == 2 ? TraceText("Grid Dim") : TraceText("Block Dim"),
                   texts_(of_op_.integer(column)));
    }
  }
  // Call when a task of this stream is drawn.
  void add_stream(StreamText& text) {
    if (!std::exchange(text.is_drawn, true)) streams_.insert(text.lane.tid);
  }
  const std::set<std::int64_t>& streams() const { return streams_; }

 private:
  static constexpr std::size_t kMaxKinds = 1 << 15;
  // Everything that the text depends on.
  struct SliceTextKey {
    std::int64_t host_type = kNull;
    std::int64_t device_type = kNull;
    std::int64_t op = kNull;
    bool operator==(const SliceTextKey&) const = default;
  };
  struct SliceTextKeyHash {
    std::size_t operator()(const SliceTextKey& key) const {
      return cann::hash_of({key.host_type, key.device_type, key.op});
    }
  };

  void read_op(std::int64_t id) {
    of_op_.reset();
    of_op_.bind(1, id);
    if (!of_op_.step()) throw db_.damaged("a task refers to an unknown operator");
  }

  TaskText make_text(const SliceTextKey& key) {
    const std::int64_t effective = names_.types.effective(key.host_type, key.device_type);
    std::int64_t name = effective;
    std::int64_t type = effective;
    if (key.op != kNull) {
      read_op(key.op);
      name = of_op_.maybe_integer(0).value_or(kNull);
      type = names_.types.shown(of_op_.maybe_integer(1).value_or(kNull), key.host_type,
                                key.device_type);
    }
    if (key.host_type == names_.copy) type = key.device_type;
    TaskText text;
    text.name = texts_(name);
    text.type = texts_(type);
    return text;
  }

  StreamText make_stream_text(std::int64_t id) const {
    const auto logic = logic_streams_.find(id);
    StreamText text;
    text.lane = {pid_, logic == logic_streams_.end() ? id : logic->second};
    if (!form_.thread_name.empty()) text.lane.tid = form_.thread;
    return text;
  }

  const Database& db_;
  std::int64_t pid_;
  const cann::TaskForm& form_;
  cann::Texts texts_;
  const HardwareNames& names_;
  Statement of_op_;
  std::map<std::int64_t, std::int64_t> logic_streams_;
  RecentMap<SliceTextKey, TaskText, kMaxKinds, SliceTextKeyHash> known_;
  RecentMap<std::int64_t, StreamText, kMaxKinds> stream_texts_;
  std::set<std::int64_t> streams_;
};

class DeviceWriter {
 public:
  DeviceWriter(const Database& db, const ExportScope& scope, std::int64_t pid,
               const cann::TaskForm& form, const HardwareNames& names)
      : db_(db), scope_(scope), texts_(db, pid, form, names) {
    if (form.make_arguments != nullptr) arguments_ = form.make_arguments(db, scope);
  }

  // Writes a range of consecutive tasks. `ends` is null if no arrows are drawn.
  void write(std::int64_t first_task, std::int64_t last_task, const cann::IdBits& outer,
             const cann::ArrowEnds* ends, TraceWriter& out) {
    Copies copies(db_);
    cann::TaskCursor tasks(
        db_, scope_,
        {&TaskRow::id, &TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
         &TaskRow::batch, &TaskRow::context, &TaskRow::host_type_name_id,
         &TaskRow::device_type_name_id, &TaskRow::op_id, &TaskRow::model_number, &TaskRow::api_id},
        {.first_id = first_task,
         .last_id = last_task,
         .not_null = {&TaskRow::device_type_name_id}});
    while (tasks.next()) {
      const TaskRow& task = *tasks;
      const bool is_copy = texts_.is_copy(task);
      const bool is_hidden = !is_copy && task.context == kNull && outer.has(task.id);
      if (!is_hidden) write_task(task, is_copy ? &copies : nullptr, ends, out);
    }
  }

  const std::set<std::int64_t>& streams() const { return texts_.streams(); }

 private:
  // `copies` is null unless the task is a copy.
  void write_task(const TaskRow& task, Copies* copies, const cann::ArrowEnds* ends,
                  TraceWriter& out) {
    const TaskText& text = texts_(task);
    StreamText& stream = texts_.find_stream_text(task);
    if (!out.begin_slice(text.name, stream.lane, task.start_ns, task.duration_ns)) return;
    texts_.add_stream(stream);
    if (arguments_) {
      arguments_->write(out, task, text.type);
    } else {
      write_arguments(task, text.type, copies, out);
    }
    out.end_event();
    const char phase = ends == nullptr ? char{0} : ends->phase_of_task(task.id, task.api_id);
    if (phase != 0) cann::write_arrow(out, phase, stream.lane, task.api_id, task.start_ns);
  }

  void write_arguments(const TaskRow& task, TraceText type, Copies* copies, TraceWriter& out) {
    out.arguments({{"Model Id", given(task.model_number).value_or(kInvalidId)},
                   {"Task Type", type},
                   {"Physic Stream Id", task.stream_id},
                   {"Task Id", task.task_number},
                   {"Batch Id", task.batch},
                   {"Subtask Id", given(task.context).value_or(kInvalidId)}});
    if (task.api_id == kNull) {
      out.argument_digits("connection_id", kNoConnection);
    } else {
      out.argument("connection_id", task.api_id);
    }
    if (copies != nullptr) copies->write(task.id, task.duration_ns, out);
    texts_.write_dimensions(task, out);
  }

  const Database& db_;
  const ExportScope& scope_;
  SliceTexts texts_;
  std::unique_ptr<cann::TaskArguments> arguments_;  // null: the current ones
};

// Data that the chunks of one device share.
class DevicePieces {
 public:
  DevicePieces(const Database& db, const OutputFile& output_file, const cann::TaskForm& form,
               std::int64_t device, std::shared_ptr<const HardwareNames> names)
      : output_file_(output_file),
        form_(form),
        device_(device),
        processes_(db),
        pid_(form.thread_name.empty()
                 ? processes_.pid(cann::TraceProcess::hardware, device)
                 : processes_.pid(cann::TraceProcess::calls, cann::kHostDevice)),
        names_(std::move(names)) {}

  void write(const Database& db, std::int64_t first_task, std::int64_t last_task,
             const cann::IdBits& outer, TraceWriter& out) {
    std::shared_ptr<const cann::ArrowEnds> ends;
    if (output_file_.has_arrows) ends = cann::arrow_ends(db, output_file_);
    writers_
        .find(db,
              [&] {
                return std::make_unique<DeviceWriter>(db, output_file_.scope, pid_, form_, *names_);
              })
        .write(first_task, last_task, outer, ends.get(), out);
  }

  void write_metadata(TraceWriter& out) const {
    if (form_.thread_name.empty()) {
      std::set<std::int64_t> streams;
      writers_.for_each([&](const DeviceWriter& writer) {
        streams.insert(writer.streams().begin(), writer.streams().end());
      });
      return processes_.write(out, cann::TraceProcess::hardware, device_, form_.process_name,
                              "Stream", streams);
    }
    processes_.write(out, cann::TraceProcess::calls, cann::kHostDevice, form_.process_name);
    out.thread({pid_, form_.thread}, form_.thread_name, form_.thread);
  }

 private:
  OutputFile output_file_;
  const cann::TaskForm form_;
  std::int64_t device_;
  cann::TraceProcesses processes_;
  std::int64_t pid_;
  std::shared_ptr<const HardwareNames> names_;
  PerConnection<DeviceWriter> writers_;
};

class CannHardware : public cann::CannLayer {
 public:
  explicit CannHardware(const cann::TaskForm& form)
      : CannLayer({.name = "ascend_hardware",
                   .help = "tasks on the device, by stream",
                   .exists = "SELECT 1 FROM task WHERE device_type_name_id IS NOT NULL",
                   .needs = kDeviceLogs}),
        form_(form) {}

  std::vector<TimelinePiece> pieces(const Database& db,
                                    const OutputFile& output_file) const override {
    std::vector<TimelinePiece> pieces;
    if (output_file.has_arrows && output_file.share) {
      pieces.push_back(
          {[output_file](const Database& own, TraceWriter&) { cann::arrow_ends(own, output_file); },
           TimelinePiece::When::ahead});
    }
    const auto outer = std::make_shared<OuterTasks>();
    pieces.push_back({[outer](const Database& own, TraceWriter&) { outer->get(own); },
                      TimelinePiece::When::ahead});
    Statement runs = db.prepare(
        "SELECT device_id, first_task_id, last_task_id FROM task_run"
        " ORDER BY device_id, first_task_id");
    const auto names = std::make_shared<const HardwareNames>(db);
    std::shared_ptr<DevicePieces> device;
    std::int64_t number = -1;
    const auto end_device = [&] {
      if (!device) return;
      pieces.push_back(
          {[device](const Database&, TraceWriter& out) { device->write_metadata(out); },
           TimelinePiece::When::after_others});
    };
    while (runs.step()) {
      if (runs.integer(0) != number || !device) {
        end_device();
        number = runs.integer(0);
        device = std::make_shared<DevicePieces>(db, output_file, form_, number, names);
      }
      if (output_file.scope.takes_device(number))
        add_run(device, outer, {runs.integer(1), runs.integer(2)}, pieces);
    }
    end_device();
    return pieces;
  }

 private:
  static void add_run(const std::shared_ptr<DevicePieces>& device,
                      const std::shared_ptr<OuterTasks>& outer, IdRange tasks,
                      std::vector<TimelinePiece>& pieces) {
    for (const auto& [first, last] : cann::chunk_ranges(tasks, kPieceRows)) {
      pieces.push_back(
          {[device, outer, first = first, last = last](const Database& db, TraceWriter& out) {
            device->write(db, first, last, outer->get(db), out);
          }});
    }
  }

  cann::TaskForm form_;
};

}  // namespace

std::unique_ptr<TimelineLayer> make_cann_hardware() {
  return cann::make_hardware({});
}

std::unique_ptr<TimelineLayer> cann::make_hardware(const TaskForm& form) {
  return std::make_unique<CannHardware>(form);
}

}  // namespace msprof
