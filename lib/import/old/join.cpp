// Join of old captures: associates the tasks of the devices with the operators that the host
// described. Source: cann5_classic.md 5.4, 9.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "import/cann/join/join.hpp"
#include "import/old/classic_import.hpp"
#include "import/old/old_import.hpp"
#include "import/old/old_tasks.hpp"
#include "import/old/steps.hpp"

namespace msprof::old {

namespace {

std::string_view unit_name(OpKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"AI_CORE", "AI_CPU", "AI_VECTOR_CORE", "N/A"};
  return kNames[std::min(static_cast<std::size_t>(kind), kNames.size() - 1)];
}

// Writes calls sorted by start; at equal times outer levels come first.
void write_calls(HostData& data, TraceDbWriter& store) {
  std::vector<std::uint32_t> order(data.calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const ApiCallRow& first = data.calls[a];
    const ApiCallRow& second = data.calls[b];
    return std::tuple(first.start_ns, -first.level) < std::tuple(second.start_ns, -second.level);
  });
  std::int64_t id = 0;
  for (const std::uint32_t place : order) {
    ApiCallRow& call = data.calls[place];
    call.id = ++id;
    store.add(call);
    CallDetailRow& detail = data.details[place];
    if (detail.stream_id == kNull && detail.request == kNull) continue;
    detail.api_id = call.id;
    store.add(detail);
  }
  data.calls.clear();
  data.details.clear();
}

// Finds the task of each node: the task that the scheduler saw at that time (on a 310 one of an AI
// CPU); its kind becomes AI CPU. If there is none, appends a task. Returns indexes into `tasks`.
std::vector<std::size_t> place_nodes(const std::vector<AicpuNodeRow>& nodes, bool is_310,
                                     TraceDbWriter& store, std::vector<OldTask>& tasks) {
  std::vector<std::size_t> places;
  if (nodes.empty()) return places;
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!is_310 || tasks[i].kind == OpKind::ai_cpu) order.push_back(static_cast<std::uint32_t>(i));
  }
  const auto key = [](const OldTask& task) {
    return std::tuple(std::int64_t{task.stream}, std::int64_t{task.task}, task.start_ns);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(tasks[a]) < key(tasks[b]); });
  const std::int64_t type_id = store.name_id("AI_CPU");
  for (const AicpuNodeRow& node : nodes) {
    auto at = std::upper_bound(
        order.begin(), order.end(), std::tuple(node.stream_id, node.task_number, node.end_ns),
        [&](const auto& wanted, std::uint32_t place) { return wanted < key(tasks[place]); });
    if (at != order.begin()) {
      const std::uint32_t place = *--at;
      OldTask& seen = tasks[place];
      if (seen.stream == node.stream_id && seen.task == node.task_number &&
          seen.end_ns >= node.start_ns) {
        seen.kind = OpKind::ai_cpu;
        places.push_back(place);
        continue;
      }
    }
    OldTask task;
    task.start_ns = node.start_ns;
    task.end_ns = node.end_ns;
    task.duration_ns = saturating_subtract(node.end_ns, node.start_ns);
    task.device_type_name_id = type_id;
    task.stream = static_cast<std::uint32_t>(node.stream_id);
    task.task = static_cast<std::uint32_t>(node.task_number);
    task.kind = OpKind::ai_cpu;
    places.push_back(tasks.size());
    tasks.push_back(task);
  }
  return places;
}

// Writes the nodes in order of start, with ids from `next_id`.
void write_nodes(std::vector<AicpuNodeRow>& nodes, TraceDbWriter& store, std::int64_t& next_id) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const AicpuNodeRow& a, const AicpuNodeRow& b) {
    return a.start_ns < b.start_ns;
  });
  for (AicpuNodeRow& node : nodes) {
    node.id = next_id++;
    store.add(node);
  }
}

// Adds the copies seen by the scheduler of a 910, with a name.
void add_copies(const std::vector<cann::CopyState>& copies, const CannPart& part,
                TraceDbWriter& store, std::vector<OldTask>& tasks) {
  enum : std::uint8_t { kCopyStart = 1, kCopyEnd = 2 };  // cann5_classic.md 5.3
  if (copies.empty()) return;
  RunPairing pairing;
  for (const cann::CopyState& state : copies) {
    if (state.state == kCopyStart) pairing.start(state.stream, state.task_number, state.ticks);
    if (state.state == kCopyEnd) pairing.end(state.stream, state.task_number, state.ticks);
  }
  const std::int64_t type_id = store.name_id("MEMCPY_ASYNC");
  const std::int64_t name_id = store.name_id("MemcopyAsync");
  for (const OldTaskRun& run : pairing.take()) {
    OldTask task = make_task(run, part, store, false);
    task.device_type_name_id = task.host_type_name_id = type_id;
    task.kernel_name_id = name_id;
    task.kind = OpKind::other;
    tasks.push_back(task);
  }
}

// Returns the iteration in which a task ends; null after the last. `windows` is sorted by end.
const IterationEnd* find_window(const std::vector<IterationEnd>& windows, std::int64_t end_ns) {
  const auto at = std::lower_bound(
      windows.begin(), windows.end(), end_ns,
      [](const IterationEnd& window, std::int64_t ns) { return window.end_ns < ns; });
  return at == windows.end() ? nullptr : &*at;
}

// Adds the tasks of collectives and empties `records`. The records do not contain the start of the
// collective, so those of one collective and iteration count as one call.
void add_comm_tasks(std::vector<OldCommTask>& records, const std::vector<IterationEnd>& windows,
                    TraceDbWriter& store, std::int64_t& next_call, std::vector<OldTask>& tasks) {
  if (records.empty()) return;
  const std::int64_t type_id = store.name_id("HCCL");
  for (OldCommTask& record : records) {
    OldTask task;
    task.start_ns = record.start_ns;
    task.duration_ns = record.duration_ns;
    task.end_ns = saturating_add(record.start_ns, record.duration_ns);
    task.stream = record.stream;
    task.task = record.task;
    task.device_type_name_id = task.host_type_name_id = type_id;
    task.kernel_name_id = record.call.item_name_id;
    const IterationEnd* window = find_window(windows, task.end_ns);
    if (window != nullptr) task.model_number = window->model_number;
    record.call.id = task.comm_call_id = next_call++;
    record.call.op_begin_count = window == nullptr ? 0 : window->number;
    store.add(record.call);
    tasks.push_back(task);
  }
  records = {};
}

// Next ids of rows that several devices have.
struct Ids {
  std::int64_t next_node = 1;
  std::int64_t next_op_task = 1;
  std::int64_t next_comm_call = 1;
  StepIds steps;
};

using ModelRows = std::map<std::int64_t, std::int64_t>;  // rows by model number

// The input of the join of a device.
struct JoinInput {
  CannImport& import;
  const ImportContext& context;
  const CannPart& part;
  OpRowWriter& op_rows;
  const ModelRows& model_rows;
  bool is_310;
};

// The operators of a device, and which task runs which operator.
class Operators {
 public:
  explicit Operators(const JoinInput& input) : input_(input) {}
  virtual ~Operators() = default;
  // Writes the rows of the operators.
  virtual void write(Ids& ids) = 0;
  virtual bool empty() const = 0;
  // Sets the operators of `tasks`: `runs` tasks from the log, then tasks of AI CPUs, then copies.
  // Returns the number of tasks that should have an operator but have none.
  virtual std::uint64_t name(std::vector<OldTask>& tasks, std::size_t runs,
                             const std::vector<IterationEnd>& windows) = 0;
  virtual void write_counts(const LogCounts&, std::size_t, std::uint64_t) {}

 protected:
  JoinInput input_;
};

// The operators of CANN 5, which the graph engine described by stream, task and batch.
class DescribedOperators : public Operators {
 public:
  explicit DescribedOperators(const JoinInput& input)
      : Operators(input), host_(input.import.cann5->devices[*input.part.device]) {}

  void write(Ids& ids) override {
    TraceDbWriter& store = input_.context.store;
    for (const TaskDesc& task : host_.descriptions) {
      OpRow row;
      const auto model = input_.model_rows.find(task.model);
      if (model != input_.model_rows.end()) row.model_row = model->second;
      row.name_id = task.name_id;
      row.type_name_id = task.type_name_id;
      row.unit_name_id = store.name_id(unit_name(task.kind));
      row.block_num = task.blocks;
      row.is_dynamic = task.iteration == 0 ? 0 : 1;
      row.set_tensors(host_.tensors.find(store, {task.time_ns, task.stream, task.task}));
      const std::int64_t op_id = input_.op_rows.find_or_add(row);
      ops_.add({task.iteration, op_id, task.name_id, task.model, task.stream, task.task, task.batch,
                task.kind});
      store.add(OpTaskRow{ids.next_op_task++, op_id, *input_.part.device, task.stream, task.task,
                          task.batch, cann::cell(task.iteration), task.model});
    }
    host_.descriptions = {};
    ops_.sort();
  }

  bool empty() const override { return ops_.empty(); }

  std::uint64_t name(std::vector<OldTask>& tasks, std::size_t,
                     const std::vector<IterationEnd>& windows) override {
    std::vector<std::uint32_t> order(tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tasks[a].end_ns, a) < std::tuple(tasks[b].end_ns, b);
    });
    std::uint64_t unnamed = 0;
    for (const std::uint32_t place : order) {
      OldTask& task = tasks[place];
      if (task.kernel_name_id != kNull) continue;  // a copy
      const OldOp* op = find_op(task, windows);
      const auto kind = host_.task_kinds.find(std::uint64_t{task.stream} << 16 | task.task);
      if (kind != host_.task_kinds.end()) task.host_type_name_id = kind->second;
      if (op == nullptr) {
        ++unnamed;
        continue;
      }
      task.op_id = op->op_id;
      task.model_number = op->model;
      task.kernel_name_id = op->name_id;
    }
    return unnamed;
  }

 private:
  const OldOp* find_op(OldTask& task, const std::vector<IterationEnd>& windows) {
    const IterationEnd* window = find_window(windows, task.end_ns);
    const auto model = static_cast<std::uint32_t>(window == nullptr ? 0 : window->model_number);
    const auto number = static_cast<std::uint16_t>(task.task);
    std::uint16_t batch = 0;
    if (ops_.has_dynamic()) batch = advance_batch(task, window, model);
    for (const OpKind kind : possible_kinds(task)) {
      if (const OldOp* op = ops_.find(model, task.stream, number, kind)) return op;
      if (window == nullptr) continue;
      const auto iteration = static_cast<std::uint64_t>(window->number);
      if (const OldOp* op = ops_.find(model, iteration, task.stream, number, batch, kind)) {
        task.batch = batch;
        return op;
      }
    }
    return nullptr;
  }

  // Returns the kinds that the description of a task may have; the log of a 910 reveals little
  // about the kind.
  std::span<const OpKind> possible_kinds(const OldTask& task) const {
    static constexpr std::array kAll{OpKind::ai_core, OpKind::vector_core, OpKind::ai_cpu,
                                     OpKind::other};
    static constexpr std::array kOfVector{OpKind::vector_core, OpKind::ai_core, OpKind::other};
    if (task.kind == OpKind::ai_cpu || input_.is_310) return {&task.kind, 1};
    return task.is_vector ? std::span<const OpKind>(kOfVector) : std::span<const OpKind>(kAll);
  }

  // Returns the batch of a task: the number of wraparounds of the stream's task ids within an
  // iteration. Call in order of task ends.
  std::uint16_t advance_batch(const OldTask& task, const IterationEnd* window,
                              std::uint32_t model) {
    Turn& turn = turns_[task.stream];
    const auto number = static_cast<std::uint16_t>(task.task);
    if (turn.window != window || !turn.is_begun) {
      turn = {window, true, 0, number};
      const OldOp* first =
          window == nullptr
              ? nullptr
              : ops_.find_first(model, static_cast<std::uint64_t>(window->number), task.stream);
      if (first != nullptr) turn.batch = first->batch;
      // The first task seen may belong to the batch before the first described one.
      constexpr int kHalf = 32768;
      if (first != nullptr && turn.batch > 0 && number - first->task > kHalf) --turn.batch;
      return turn.batch;
    }
    if (number <= turn.task) ++turn.batch;
    turn.task = number;
    return turn.batch;
  }

  struct Turn {
    const IterationEnd* window = nullptr;
    bool is_begun = false;
    std::uint16_t batch = 0;
    std::uint16_t task = 0;  // id of the last task
  };

  DeviceHostData& host_;
  OldOps ops_;
  std::map<std::uint32_t, Turn> turns_;  // by stream
};

// Task ids from here on identify an operator without the stream.
constexpr std::uint32_t kFirstUniqueTask = 25'000;

// The operators of a device by task id.
class OperatorsByTask {
 public:
  struct Operator {
    std::int64_t op_id = kNull;
    std::int64_t name_id = kNull;
    std::int64_t model = kNull;
  };

  void add(std::uint32_t stream, std::uint32_t task, const Operator& op) {
    if (task > UINT16_MAX) has_long_ids_ = true;
    by_stream_.try_emplace(make_key(stream, task), op);
    if (task >= kFirstUniqueTask) by_task_.try_emplace(task, op);
  }
  // Returns true if task ids exceed 16 bits, while those in the log wrap around (MindSpore of late
  // 2021).
  bool has_long_ids() const { return has_long_ids_; }

  const Operator* find(std::uint32_t stream, std::uint32_t task) const {
    if (const Operator* op = at(by_stream_, make_key(stream, task))) return op;
    return task >= kFirstUniqueTask && !has_long_ids_ ? at(by_task_, std::uint64_t{task}) : nullptr;
  }

 private:
  using Map = std::unordered_map<std::uint64_t, Operator>;
  static std::uint64_t make_key(std::uint32_t stream, std::uint32_t task) {
    return std::uint64_t{stream} << 32 | task;
  }
  static const Operator* at(const Map& map, std::uint64_t key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  Map by_stream_;
  Map by_task_;
  bool has_long_ids_ = false;
};

// The operators of captures of 2019 to 2021, from lines of text files.
class TextOperators : public Operators {
 public:
  explicit TextOperators(const JoinInput& input)
      : Operators(input), data_(input.import.classic->devices[*input.part.device]) {}

  // Writes described operators in their order, then operators of tasks without a description.
  void write(Ids& ids) override {
    std::unordered_map<std::int64_t, std::vector<const TaskLine*>> by_name;
    for (const TaskLine& task : data_.tasks) by_name[task.name_id].push_back(&task);
    std::set<std::int64_t> described;
    for (const GraphLine& graph : data_.graph) {
      if (!described.insert(graph.name_id).second) continue;
      const auto tasks = by_name.find(graph.name_id);
      if (tasks == by_name.end()) {
        add_op(nullptr, &graph, ids);
        continue;
      }
      for (const TaskLine* task : tasks->second) add_op(task, &graph, ids);
    }
    for (const TaskLine& task : data_.tasks) {
      if (!described.contains(task.name_id)) add_op(&task, nullptr, ids);
    }
  }

  bool empty() const override { return data_.tasks.empty(); }

  std::uint64_t name(std::vector<OldTask>& tasks, std::size_t runs,
                     const std::vector<IterationEnd>&) override {
    // last id, number of wraparounds
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> turns;
    std::uint64_t unnamed = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      OldTask& task = tasks[i];
      if (task.kernel_name_id != kNull) continue;  // a copy
      std::uint32_t number = task.task;
      if (i < runs && ops_.has_long_ids()) {
        constexpr std::uint32_t kNearEnd = 65'000;
        auto& [last, turn] = turns[task.stream];
        if (last > kNearEnd && number < last) ++turn;
        last = number;
        number += std::min(turn, UINT32_MAX >> 17) << 16;
      }
      if (!set_op(task, number) && i < runs) ++unnamed;
    }
    return unnamed;
  }

  void write_counts(const LogCounts& counts, std::size_t paired, std::uint64_t unnamed) override {
    const auto count = [&](const char* what, std::uint64_t value) {
      input_.context.store.set_meta(fmt::format("old_counts.{}.{}", *input_.part.device, what),
                                    std::to_string(value));
    };
    count("hwts_records", counts.records);
    count("hwts_other", counts.others);
    count("tasks_paired", paired);
    count("starts_without_end", counts.starts_without_end + counts.repeated_starts);
    count("ends_without_start", counts.ends_without_start);
    count("tasks_without_operator", unnamed);
  }

 private:
  void add_op(const TaskLine* task, const GraphLine* graph, Ids& ids) {
    OpRow row;
    row.name_id = task != nullptr ? task->name_id : graph->name_id;
    if (graph != nullptr) {
      row.type_name_id = graph->type_name_id;
      row.set_tensors(graph->tensors);
    }
    OpTaskRow place;
    place.id = ids.next_op_task++;
    place.device_id = *input_.part.device;
    place.iteration = 0;
    if (task != nullptr) {
      if (task->is_whole) {
        row.type_name_id = task->type_name_id;
        row.set_tensors(task->tensors);
      }
      row.block_num = task->blocks;
      row.unit_name_id = input_.context.store.name_id(task->kind == 1 ? "AI_CPU" : "AI_CORE");
      const auto model = input_.model_rows.find(task->model);
      if (model != input_.model_rows.end()) row.model_row = model->second;
      place.stream_id = task->stream;
      place.task_number = task->task;
      place.model_number = task->model;
    }
    place.op_id = input_.op_rows.find_or_add(row);
    input_.context.store.add(place);
    if (task == nullptr) return;
    ops_.add(task->stream, task->task, {place.op_id, task->name_id, task->model});
  }

  bool set_op(OldTask& task, std::uint32_t number) const {
    const auto* op = ops_.find(task.stream, number);
    if (op == nullptr) return false;
    task.op_id = op->op_id;
    task.kernel_name_id = op->name_id;
    task.model_number = op->model;
    return true;
  }

  DeviceData& data_;
  OperatorsByTask ops_;
};

// Writes the operators, steps, nodes and tasks of a device.
void join_device(const JoinInput& input, Operators& operators, TaskRows& task_rows, Ids& ids) {
  const auto& [import, context, part, op_rows, model_rows, is_310] = input;
  TraceDbWriter& store = context.store;
  cann::DeviceInputs& inputs = import.devices[*part.device];
  DeviceHostData& host = import.cann5->devices[*part.device];
  operators.write(ids);
  const std::vector<IterationEnd> windows = find_steps(context, part, host.step_marks, ids.steps);
  DeviceRuns all = read_runs(context, import, part);
  std::vector<OldTask> tasks;
  tasks.reserve(all.runs.size() + inputs.aicpu_nodes.size() + inputs.ts_track.copies.size() +
                host.comm_tasks.size());
  for (; !all.runs.empty(); all.runs.pop_front())
    tasks.push_back(make_task(all.runs.front(), part, store, is_310));
  const std::size_t runs = tasks.size();
  const auto places = place_nodes(inputs.aicpu_nodes, is_310, store, tasks);
  add_copies(inputs.ts_track.copies, part, store, tasks);
  const std::uint64_t unnamed = operators.name(tasks, runs, windows);
  if (unnamed > 0 && !operators.empty()) {
    context.report.add(FindingId::undescribed_tasks, "tasks", part.name,
                       "tasks without an operator", "The graph engine did not describe them.",
                       static_cast<std::int64_t>(unnamed));
  }
  operators.write_counts(all.counts, runs, unnamed);
  for (std::size_t i = 0; i < places.size(); ++i)
    inputs.aicpu_nodes[i].op_name_id = tasks[places[i]].kernel_name_id;
  add_comm_tasks(host.comm_tasks, windows, store, ids.next_comm_call, tasks);
  write_nodes(inputs.aicpu_nodes, store, ids.next_node);
  task_rows.write(*part.device, tasks, all.counters,
                  (part.info.aic_frequency_hz + 500'000) / 1'000'000, is_310);
}

ModelRows write_models(const ModelRows& names, TraceDbWriter& store) {
  ModelRows rows;
  for (const auto& [number, name_id] : names) {
    ModelRow row;
    row.id = static_cast<std::int64_t>(rows.size()) + 1;
    row.model_id = number;
    row.name_id = name_id;
    store.add(row);
    rows.emplace(number, row.id);
  }
  return rows;
}

// Writes the generation, the clocks and the calls.
void begin_join(CannImport& import, const ImportContext& context, std::string_view generation) {
  TraceDbWriter& store = context.store;
  store.set_meta("generation", generation);
  store.set_meta("clock.wall_offset_ns",
                 std::to_string(import.session.host_clock()->start().wall_offset_ns));
  for (const CannPart& part : import.session.parts()) {
    if (part.is_host()) continue;
    const ClockStart& start = part.clock->start();
    const auto set = [&](const char* name, const std::string& value) {
      store.set_meta(fmt::format("clock.{}.{}", *part.device, name), value);
    };
    set("ticks", std::to_string(start.count));
    set("monotonic_ns", std::to_string(start.monotonic_ns));
    set("wall_offset_ns", std::to_string(start.wall_offset_ns));
  }
  write_calls(*import.cann5, store);
}

// Returns true for a JOB folder whose operators are in text files. The last ones have the binary
// records of CANN 5.
bool has_text_operators(const CannImport& import) {
  const auto& devices = import.cann5->devices;
  return import.session.is_classic() &&
         std::none_of(devices.begin(), devices.end(),
                      [](const auto& one) { return !one.second.descriptions.empty(); });
}

}  // namespace

void join(CannImport& import, const ImportContext& context) {
  const bool is_text = has_text_operators(import);
  begin_join(import, context, is_text ? "classic" : "cann5");
  cann::write_pmu_columns(import, context);
  const ModelRows model_rows = write_models(
      is_text ? import.classic->model_names : import.cann5->model_names, context.store);
  OpRowWriter op_rows(context.store);
  TaskRows task_rows{context.store};
  Ids ids;
  ids.next_node += import.classic->nodes;
  const auto& chip = import.session.chip();
  const bool is_310 = chip && chip->family == cann::ChipFamily::mini;
  for (const CannPart& part : import.session.parts()) {
    if (part.is_host()) continue;
    if (chip && !is_text)
      cann::report_unknown_sets(import, context, part, import.devices[*part.device]);
    const JoinInput input{import, context, part, op_rows, model_rows, is_310};
    std::unique_ptr<Operators> operators;
    if (is_text) {
      operators = std::make_unique<TextOperators>(input);
    } else {
      operators = std::make_unique<DescribedOperators>(input);
    }
    join_device(input, *operators, task_rows, ids);
  }
}

}  // namespace msprof::old
