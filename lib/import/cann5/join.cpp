// The association of CANN 5: tasks of the devices with the operators that the graph engine
// described, by stream, task and batch. Source: cann5_classic.md 9.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "import/cann5/cann5_import.hpp"
#include "import/cann5/old_tasks.hpp"

namespace msprof::cann5 {

namespace {

using cann::AicoreRecord;
using cann::DeviceInputs;
using cann::StreamRecord;

// States of a copy (cann5_classic.md 5.3).
enum : std::uint8_t { kCopyStart = 1, kCopyEnd = 2 };

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

// Sorted by begin, of one moment from the outer level to the inner.
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

// Of rows that several devices have.
struct Ids {
  std::int64_t next_node = 1;
  std::int64_t next_op_task = 1;
  std::int64_t next_comm_call = 1;
};

class DeviceJoin {
 public:
  DeviceJoin(CannImport& import, const ImportContext& context, const CannPart& part,
             OpRows& op_rows, TaskRows& task_rows,
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
    windows_ = iteration_ends(context_.store.readable(), *part_.device);
    read_runs();
    add_nodes();
    add_copies();
    name_tasks();
    add_comm_tasks(ids);
    write_nodes(ids.next_node);
    task_rows_.write(*part_.device, tasks_, counters_,
                     (part_.info.aic_frequency_hz + 500'000) / 1'000'000, is_310_);
  }

 private:
  // Which part of tasks_ a task is of.
  enum class Source : std::uint8_t { device, node, copy };
  struct Facts {
    Source source = Source::device;
    OpKind kind = OpKind::ai_core;
    std::size_t node = SIZE_MAX;  // place in the nodes of the AI CPUs
  };

  void tell(FindingId id, std::string_view kind, std::uint64_t count, std::string reason,
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
      const TensorIds tensors =
          host_.tensors.find(context_.store, {task.time_ns, task.stream, task.task});
      row.input_shapes_name_id = tensors[0];
      row.input_types_name_id = tensors[1];
      row.input_formats_name_id = tensors[2];
      row.output_shapes_name_id = tensors[3];
      row.output_types_name_id = tensors[4];
      row.output_formats_name_id = tensors[5];
      const std::int64_t op_id = op_rows_.id_of(row);
      ops_.add({task.iteration, op_id, task.name_id, task.model, task.stream, task.task, task.batch,
                task.kind});
      context_.store.add(OpTaskRow{ids.next_op_task++, op_id, *part_.device, task.stream, task.task,
                                   task.batch, cann::cell(task.iteration), task.model});
    }
    host_.descriptions = {};
    ops_.sort();
  }

  void read_runs() {
    RunPairing pairing;
    const HwtsCounts counts = read_hwts(context_, inputs_.hwts, pairing);
    read_states(inputs_.ts_track.states, is_310_, pairing);
    std::vector<Run> runs = pairing.take();
    counters_ = read_counters(context_, import_, part_, runs);
    report_runs(context_, part_.name, pairing, counts);
    for (const Run& run : runs) {
      OldTask task = task_of(run, *part_.clock);
      Facts facts;
      const std::string_view type =
          is_310_ ? cann::runtime_task_type_name(run.type) : std::string_view("AI_CORE");
      if (!type.empty()) task.device_type_name_id = context_.store.name_id(type);
      if (is_310_) facts.kind = run.type < 2 ? static_cast<OpKind>(run.type) : OpKind::other;
      add(task, facts);
    }
  }

  void add(const OldTask& task, const Facts& facts) {
    tasks_.push_back(task);
    facts_.push_back(facts);
  }

  // A record of an AI CPU is the execution that the scheduler saw at that time, else one of its
  // own.
  void add_nodes() {
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!is_310_ || facts_[i].kind == OpKind::ai_cpu)
        order.push_back(static_cast<std::uint32_t>(i));
    }
    const auto key = [](const OldTask& task) {
      return std::tuple(std::int64_t{task.stream}, std::int64_t{task.task}, task.start_ns);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(tasks_[a]) < key(tasks_[b]); });
    const std::int64_t type_id = context_.store.name_id("AI_CPU");
    for (std::size_t i = 0; i < inputs_.aicpu_nodes.size(); ++i) {
      const AicpuNodeRow& node = inputs_.aicpu_nodes[i];
      auto at = std::upper_bound(
          order.begin(), order.end(), std::tuple(node.stream_id, node.task_number, node.end_ns),
          [&](const auto& wanted, std::uint32_t place) { return wanted < key(tasks_[place]); });
      if (at != order.begin()) {
        const std::uint32_t place = *--at;
        const OldTask& seen = tasks_[place];
        if (seen.stream == node.stream_id && seen.task == node.task_number &&
            seen.end_ns >= node.start_ns) {
          facts_[place].kind = OpKind::ai_cpu;
          facts_[place].node = i;
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
      add(task, {Source::node, OpKind::ai_cpu, i});
    }
  }

  void add_copies() {
    RunPairing pairing;
    for (const cann::CopyState& state : inputs_.ts_track.copies) {
      if (state.state == kCopyStart) pairing.start(state.stream, state.task_number, state.ticks);
      if (state.state == kCopyEnd) pairing.end(state.stream, state.task_number, state.ticks);
    }
    const std::int64_t type_id = context_.store.name_id("MEMCPY_ASYNC");
    const std::int64_t name_id = context_.store.name_id("MemcopyAsync");
    for (const Run& run : pairing.take()) {
      OldTask task = task_of(run, *part_.clock);
      task.device_type_name_id = task.host_type_name_id = type_id;
      task.kernel_name_id = name_id;
      add(task, {Source::copy, OpKind::other, SIZE_MAX});
    }
  }

  // The records of a collective have no begin: those of one iteration are one.
  void add_comm_tasks(Ids& ids) {
    const std::int64_t type_id = context_.store.name_id("HCCL");
    for (OldCommTask& record : host_.comm_tasks) {
      OldTask task;
      task.start_ns = record.start_ns;
      task.duration_ns = record.duration_ns;
      task.end_ns = saturating_add(record.start_ns, record.duration_ns);
      task.stream = record.stream;
      task.task = record.task;
      task.device_type_name_id = task.host_type_name_id = type_id;
      task.kernel_name_id = record.call.item_name_id;
      const IterationEnd* window = window_of(task.end_ns);
      if (window != nullptr) task.model_number = window->model_number;
      record.call.id = task.comm_call_id = ids.next_comm_call++;
      record.call.op_begin_count = window == nullptr ? 0 : window->number;
      context_.store.add(record.call);
      tasks_.push_back(task);
    }
    host_.comm_tasks = {};
  }

  // The iteration in which a task ends; null behind the last.
  const IterationEnd* window_of(std::int64_t end_ns) const {
    const auto at = std::lower_bound(
        windows_.begin(), windows_.end(), end_ns,
        [](const IterationEnd& window, std::int64_t ns) { return window.end_ns < ns; });
    return at == windows_.end() ? nullptr : &*at;
  }

  void name_tasks() {
    std::vector<std::uint32_t> order(tasks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tasks_[a].end_ns, a) < std::tuple(tasks_[b].end_ns, b);
    });
    std::uint64_t unnamed = 0;
    for (const std::uint32_t place : order) {
      if (facts_[place].source == Source::copy) continue;
      const OldOp* op = op_of(tasks_[place], facts_[place]);
      set_op(tasks_[place], facts_[place], op);
      unnamed += op == nullptr ? 1 : 0;
    }
    if (!ops_.empty())
      tell(FindingId::undescribed_tasks, "tasks", unnamed, "tasks without an operator",
           "The graph engine did not describe them.");
  }

  const OldOp* op_of(OldTask& task, const Facts& facts) {
    const IterationEnd* window = window_of(task.end_ns);
    const auto model = static_cast<std::uint32_t>(window == nullptr ? 0 : window->model_number);
    const auto number = static_cast<std::uint16_t>(task.task);
    std::uint16_t batch = 0;
    if (ops_.has_dynamic()) batch = batch_of(task, window, model);
    for (const OpKind kind : kinds_of(facts)) {
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

  std::vector<OpKind> kinds_of(const Facts& facts) const {
    if (facts.kind == OpKind::ai_cpu) return {OpKind::ai_cpu};
    if (is_310_) return {facts.kind};
    return {OpKind::ai_core, OpKind::vector_core, OpKind::ai_cpu, OpKind::other};
  }

  // Turns of the task ids of a stream within an iteration, in the order of the ends.
  std::uint16_t batch_of(const OldTask& task, const IterationEnd* window, std::uint32_t model) {
    Turn& turn = turns_[task.stream];
    const auto number = static_cast<std::uint16_t>(task.task);
    if (turn.window != window || !turn.is_begun) {
      turn = {window, true, 0, number};
      const OldOp* first =
          window == nullptr
              ? nullptr
              : ops_.first_of(model, static_cast<std::uint64_t>(window->number), task.stream);
      if (first != nullptr) turn.batch = first->batch;
      // The first task seen is of the turn before that of the first one described.
      constexpr int kHalf = 32768;
      if (first != nullptr && turn.batch > 0 && number - first->task > kHalf) --turn.batch;
      return turn.batch;
    }
    if (number <= turn.task) ++turn.batch;
    turn.task = number;
    return turn.batch;
  }

  void set_op(OldTask& task, const Facts& facts, const OldOp* op) {
    const auto kind = host_.task_kinds.find(std::uint64_t{task.stream} << 16 | task.task);
    if (kind != host_.task_kinds.end()) task.host_type_name_id = kind->second;
    if (op == nullptr) return;
    task.op_id = op->op_id;
    task.model_number = op->model;
    task.kernel_name_id = op->name_id;
    if (facts.node != SIZE_MAX) inputs_.aicpu_nodes[facts.node].op_name_id = op->name_id;
  }

  void write_nodes(std::int64_t& next_id) {
    auto& nodes = inputs_.aicpu_nodes;
    std::stable_sort(nodes.begin(), nodes.end(), [](const AicpuNodeRow& a, const AicpuNodeRow& b) {
      return a.start_ns < b.start_ns;
    });
    for (AicpuNodeRow& node : nodes) {
      node.id = next_id++;
      context_.store.add(node);
    }
  }

  struct Turn {
    const IterationEnd* window = nullptr;
    bool is_begun = false;
    std::uint16_t batch = 0;
    std::uint16_t task = 0;  // the last one
  };

  CannImport& import_;
  const ImportContext& context_;
  const CannPart& part_;
  DeviceInputs& inputs_;
  DeviceHostData& host_;
  OpRows& op_rows_;
  TaskRows& task_rows_;
  const std::map<std::uint32_t, std::int64_t>& model_rows_;
  bool is_310_;
  OldOps ops_;
  std::vector<IterationEnd> windows_;
  std::vector<AicoreRecord> counters_;
  std::vector<OldTask> tasks_;
  std::vector<Facts> facts_;             // of the task at the same place
  std::map<std::uint32_t, Turn> turns_;  // by stream
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
  OpRows op_rows(context.store);
  TaskRows task_rows{context.store};
  Ids ids;
  for (const CannPart& part : import.session.parts()) {
    if (part.is_host()) continue;
    if (import.session.chip())
      cann::report_unknown_sets(import, context, part, import.devices[*part.device]);
    DeviceJoin(import, context, part, op_rows, task_rows, model_rows).run(ids);
  }
}

}  // namespace msprof::cann5
