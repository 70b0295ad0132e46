// Join of CANN 5 captures: associates the tasks of the devices with the operators described by the
// graph engine, by stream, task and batch. Source: cann5_classic.md 9.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "import/cann/join/join.hpp"
#include "import/old/old_import.hpp"
#include "import/old/old_tasks.hpp"
#include "import/old/other_tasks.hpp"
#include "import/old/steps.hpp"

namespace msprof::cann5 {

namespace {

using cann::DeviceInputs;

std::string_view unit_name(OpKind kind) {
  switch (kind) {
    case OpKind::ai_core:
      return "AI_CORE";
    case OpKind::ai_cpu:
      return "AI_CPU";
    case OpKind::vector_core:
      return "AI_VECTOR_CORE";
    case OpKind::other:
      break;
  }
  return "N/A";
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

// Next ids of rows that several devices have.
struct Ids {
  std::int64_t next_node = 1;
  std::int64_t next_op_task = 1;
  std::int64_t next_comm_call = 1;
  StepIds steps;
};

class Cann5DeviceJoin {
 public:
  Cann5DeviceJoin(CannImport& import, const ImportContext& context, const CannPart& part,
                  OpRowWriter& op_rows, TaskRows& task_rows,
                  const std::map<std::uint32_t, std::int64_t>& model_rows)
      : import_(import),
        context_(context),
        part_(part),
        inputs_(import.devices[*part.device]),
        host_(import.cann5->devices[*part.device]),
        op_rows_(op_rows),
        task_rows_(task_rows),
        model_rows_(model_rows),
        is_310_(import.session.chip() && import.session.chip()->family == cann::ChipFamily::mini) {}

  void run(Ids& ids) {
    make_ops(ids);
    windows_ = find_steps(context_, part_, host_.step_marks, ids.steps);
    const CounterTable counters = add_runs();
    add_nodes();
    add_copies(inputs_.ts_track.copies, part_, context_.store, tasks_);
    name_tasks();
    add_comm_tasks(host_.comm_tasks, windows_, context_.store, ids.next_comm_call, tasks_);
    write_nodes(inputs_.aicpu_nodes, context_.store, ids.next_node);
    task_rows_.write(*part_.device, tasks_, counters,
                     (part_.info.aic_frequency_hz + 500'000) / 1'000'000, is_310_);
  }

 private:
  void report_finding(FindingId id, std::string_view kind, std::uint64_t count, std::string reason,
                      std::string detail = "") {
    if (count == 0) return;
    context_.report.add(id, kind, part_.name, std::move(reason), std::move(detail),
                        static_cast<std::int64_t>(count));
  }

  void make_ops(Ids& ids) {
    for (const TaskDesc& task : host_.descriptions) {
      OpRow row;
      const auto model = model_rows_.find(task.model);
      if (model != model_rows_.end()) row.model_row = model->second;
      row.name_id = task.name_id;
      row.type_name_id = task.type_name_id;
      row.unit_name_id = context_.store.name_id(unit_name(task.kind));
      row.block_num = task.blocks;
      row.is_dynamic = task.iteration == 0 ? 0 : 1;
      row.set_tensors(host_.tensors.find(context_.store, {task.time_ns, task.stream, task.task}));
      const std::int64_t op_id = op_rows_.find_or_add(row);
      ops_.add({task.iteration, op_id, task.name_id, task.model, task.stream, task.task, task.batch,
                task.kind});
      context_.store.add(OpTaskRow{ids.next_op_task++, op_id, *part_.device, task.stream, task.task,
                                   task.batch, cann::cell(task.iteration), task.model});
    }
    host_.descriptions = {};
    ops_.sort();
  }

  CounterTable add_runs() {
    DeviceRuns all = read_runs(context_, import_, part_);
    tasks_.reserve(all.runs.size() + inputs_.aicpu_nodes.size() + inputs_.ts_track.copies.size() +
                   host_.comm_tasks.size());
    for (; !all.runs.empty(); all.runs.pop_front())
      tasks_.push_back(make_task(all.runs.front(), part_, context_.store, is_310_));
    return std::move(all.counters);
  }

  void add_nodes() {
    const auto may_be = [this](const OldTask& task) {
      return !is_310_ || task.kind == OpKind::ai_cpu;
    };
    const auto places = place_nodes(inputs_.aicpu_nodes, may_be, context_.store, tasks_);
    for (std::size_t i = 0; i < places.size(); ++i) node_of_[places[i]] = i;
  }

  void name_tasks() {
    std::vector<std::uint32_t> order(tasks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tasks_[a].end_ns, a) < std::tuple(tasks_[b].end_ns, b);
    });
    std::uint64_t unnamed = 0;
    for (const std::uint32_t place : order) {
      if (tasks_[place].kernel_name_id != kNull) continue;  // a copy
      const OldOp* op = find_op(tasks_[place]);
      set_op(place, op);
      unnamed += op == nullptr ? 1 : 0;
    }
    if (!ops_.empty())
      report_finding(FindingId::undescribed_tasks, "tasks", unnamed, "tasks without an operator",
                     "The graph engine did not describe them.");
  }

  const OldOp* find_op(OldTask& task) {
    const IterationEnd* window = find_window(windows_, task.end_ns);
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
    if (task.kind == OpKind::ai_cpu || is_310_) return {&task.kind, 1};
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

  void set_op(std::uint32_t place, const OldOp* op) {
    OldTask& task = tasks_[place];
    const auto kind = host_.task_kinds.find(std::uint64_t{task.stream} << 16 | task.task);
    if (kind != host_.task_kinds.end()) task.host_type_name_id = kind->second;
    if (op == nullptr) return;
    task.op_id = op->op_id;
    task.model_number = op->model;
    task.kernel_name_id = op->name_id;
    const auto node = node_of_.find(place);
    if (node != node_of_.end()) inputs_.aicpu_nodes[node->second].op_name_id = op->name_id;
  }

  struct Turn {
    const IterationEnd* window = nullptr;
    bool is_begun = false;
    std::uint16_t batch = 0;
    std::uint16_t task = 0;  // id of the last task
  };

  CannImport& import_;
  const ImportContext& context_;
  const CannPart& part_;
  DeviceInputs& inputs_;
  DeviceHostData& host_;
  OpRowWriter& op_rows_;
  TaskRows& task_rows_;
  const std::map<std::uint32_t, std::int64_t>& model_rows_;
  bool is_310_;
  OldOps ops_;
  std::vector<IterationEnd> windows_;
  std::vector<OldTask> tasks_;
  std::unordered_map<std::size_t, std::size_t> node_of_;  // index of the node by index of the task
  std::map<std::uint32_t, Turn> turns_;                   // by stream
};

std::map<std::uint32_t, std::int64_t> write_models(const HostData& data, TraceDbWriter& store) {
  std::map<std::uint32_t, std::int64_t> rows;
  for (const auto& [number, name_id] : data.model_names) {
    ModelRow row;
    row.id = static_cast<std::int64_t>(rows.size()) + 1;
    row.model_id = number;
    row.name_id = name_id;
    store.add(row);
    rows.emplace(number, row.id);
  }
  return rows;
}

}  // namespace

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

void join(CannImport& import, const ImportContext& context) {
  begin_join(import, context, "cann5");
  cann::write_pmu_columns(import, context);
  const auto model_rows = write_models(*import.cann5, context.store);
  OpRowWriter op_rows(context.store);
  TaskRows task_rows{context.store};
  Ids ids;
  for (const CannPart& part : import.session.parts()) {
    if (part.is_host()) continue;
    if (import.session.chip())
      cann::report_unknown_sets(import, context, part, import.devices[*part.device]);
    Cann5DeviceJoin(import, context, part, op_rows, task_rows, model_rows).run(ids);
  }
}

}  // namespace msprof::cann5
