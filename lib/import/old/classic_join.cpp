// Join of captures of 2019 to 2021: associates the tasks in the log with the operators named in the
// text files, and finds steps from the marks of training_trace. Source: cann5_classic.md 5.4, 9.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/number.hpp"
#include "import/cann/join/join.hpp"
#include "import/old/old_import.hpp"
#include "import/old/old_tasks.hpp"
#include "import/old/other_tasks.hpp"
#include "import/old/steps.hpp"
#include "import/old/classic_import.hpp"

namespace msprof::classic {

namespace {

using cann5::OldTask;
using cann5::OldTaskRun;

// Task ids from here on identify an operator without the stream.
constexpr std::uint32_t kFirstUniqueTask = 25'000;

// The operators of a device by task id.
class OperatorsByTask {
 public:
  struct Operator {
    std::int64_t op_id = kNull;
    std::int64_t name_id = kNull;
    std::int64_t model = kNull;
    std::int64_t kind = kNull;
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

class ClassicDeviceJoin {
 public:
  ClassicDeviceJoin(CannImport& import, const ImportContext& context, const CannPart& part,
                    cann5::OpRowWriter& op_rows, cann5::TaskRows& task_rows)
      : import_(import),
        context_(context),
        part_(part),
        device_(*part.device),
        data_(import.classic->devices[device_]),
        inputs_(import.devices[device_]),
        op_rows_(op_rows),
        task_rows_(task_rows) {}

  struct Ids {
    std::int64_t op_task = 0;
    std::int64_t next_comm_call = 1;
    cann5::StepIds steps;
  };
  void run(const std::map<std::int64_t, std::int64_t>& model_rows, Ids& ids) {
    make_ops(model_rows, ids);
    const std::vector<IterationEnd> ends =
        cann5::find_steps(context_, part_, import_.cann5->devices[device_].step_marks, ids.steps);
    write_tasks(ends, ids);
  }

 private:
  void report_finding(FindingId id, std::string_view kind, std::uint64_t count, std::string reason,
                      std::string detail = "") {
    if (count == 0) return;
    context_.report.add(id, kind, part_.name, std::move(reason), std::move(detail),
                        static_cast<std::int64_t>(count));
  }

  // Writes described operators in their order, then operators of tasks without a description.
  void make_ops(const std::map<std::int64_t, std::int64_t>& model_rows, Ids& ids) {
    std::unordered_map<std::int64_t, std::vector<const TaskLine*>> by_name;
    for (const TaskLine& task : data_.tasks) by_name[task.name_id].push_back(&task);
    std::set<std::int64_t> described;
    for (const GraphLine& graph : data_.graph) {
      if (!described.insert(graph.name_id).second) continue;
      const auto tasks = by_name.find(graph.name_id);
      if (tasks == by_name.end()) {
        add_op(nullptr, &graph, model_rows, ids);
        continue;
      }
      for (const TaskLine* task : tasks->second) add_op(task, &graph, model_rows, ids);
    }
    for (const TaskLine& task : data_.tasks) {
      if (!described.contains(task.name_id)) add_op(&task, nullptr, model_rows, ids);
    }
  }

  void add_op(const TaskLine* task, const GraphLine* graph,
              const std::map<std::int64_t, std::int64_t>& model_rows, Ids& ids) {
    OpRow row;
    row.name_id = task != nullptr ? task->name_id : graph->name_id;
    if (graph != nullptr) {
      row.type_name_id = graph->type_name_id;
      row.set_tensors(graph->tensors);
    }
    OpTaskRow place;
    place.id = ++ids.op_task;
    place.device_id = device_;
    place.iteration = 0;
    if (task != nullptr) {
      if (task->is_whole) {
        row.type_name_id = task->type_name_id;
        row.set_tensors(task->tensors);
      }
      row.block_num = task->blocks;
      row.unit_name_id = context_.store.name_id(task->kind == 1 ? "AI_CPU" : "AI_CORE");
      const auto model = model_rows.find(task->model);
      if (model != model_rows.end()) row.model_row = model->second;
      place.stream_id = task->stream;
      place.task_number = task->task;
      place.model_number = task->model;
    }
    place.op_id = op_rows_.find_or_add(row);
    context_.store.add(place);
    if (task == nullptr) return;
    ops_.add(task->stream, task->task, {place.op_id, task->name_id, task->model, task->kind});
  }

  void write_tasks(const std::vector<IterationEnd>& ends, Ids& ids) {
    cann5::DeviceRuns all = cann5::read_runs(context_, import_, part_);
    auto& comm_tasks = import_.cann5->devices[device_].comm_tasks;
    std::vector<OldTask> tasks;
    tasks.reserve(all.runs.size() + inputs_.aicpu_nodes.size() + inputs_.ts_track.copies.size() +
                  comm_tasks.size());
    // last id, number of wraparounds
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> turns;
    std::uint64_t unnamed = 0;
    for (; !all.runs.empty(); all.runs.pop_front()) {
      const OldTaskRun& run = all.runs.front();
      tasks.push_back(cann5::make_task(run, part_, context_.store, is_310()));
      std::uint32_t number = run.task;
      if (ops_.has_long_ids()) {
        constexpr std::uint32_t kNearEnd = 65'000;
        auto& [last, turn] = turns[run.stream];
        if (last > kNearEnd && number < last) ++turn;
        last = number;
        number += std::min(turn, UINT32_MAX >> 17) << 16;
      }
      unnamed += name(tasks.back(), number) ? 0U : 1U;
    }
    if (!data_.tasks.empty())
      report_finding(FindingId::undescribed_tasks, "tasks", unnamed, "tasks without an operator",
                     "The graph engine did not describe them.");
    write_counts(all.counts, tasks.size(), unnamed);
    add_nodes(tasks);
    cann5::add_copies(inputs_.ts_track.copies, part_, context_.store, tasks);
    cann5::add_comm_tasks(comm_tasks, ends, context_.store, ids.next_comm_call, tasks);
    task_rows_.write(device_, tasks, all.counters,
                     (part_.info.aic_frequency_hz + 500'000) / 1'000'000, is_310());
  }

  bool name(OldTask& task, std::uint32_t number) const {
    const auto* op = ops_.find(task.stream, number);
    if (op == nullptr) return false;
    task.op_id = op->op_id;
    task.kernel_name_id = op->name_id;
    task.model_number = op->model;
    return true;
  }

  // Adds AI CPU nodes of the last JOB folders, whose records are binary. Uses tasks of the log if
  // they match, else new ones.
  void add_nodes(std::vector<OldTask>& tasks) {
    auto& nodes = inputs_.aicpu_nodes;
    const auto may_be = [this](const OldTask& task) {
      return !is_310() || task.kind == cann5::OpKind::ai_cpu;
    };
    const std::size_t seen = tasks.size();
    const auto places = cann5::place_nodes(nodes, may_be, context_.store, tasks);
    for (std::size_t i = 0; i < places.size(); ++i) {
      OldTask& task = tasks[places[i]];
      if (places[i] >= seen) name(task, task.task);
      nodes[i].op_name_id = task.kernel_name_id;
    }
    std::int64_t next_id = import_.classic->nodes + 1;
    cann5::write_nodes(nodes, context_.store, next_id);
    import_.classic->nodes = next_id - 1;
  }

  void write_counts(const cann5::LogCounts& counts, std::size_t paired, std::uint64_t unnamed) {
    const auto count = [&](const char* what, std::uint64_t value) {
      context_.store.set_meta("old_counts." + std::to_string(device_) + '.' + what,
                              std::to_string(value));
    };
    count("hwts_records", counts.records);
    count("hwts_other", counts.others);
    count("tasks_paired", paired);
    count("starts_without_end", counts.starts_without_end + counts.repeated_starts);
    count("ends_without_start", counts.ends_without_start);
    count("tasks_without_operator", unnamed);
  }

  bool is_310() const {
    return import_.session.chip() && import_.session.chip()->family == cann::ChipFamily::mini;
  }

  CannImport& import_;
  const ImportContext& context_;
  const CannPart& part_;
  std::int64_t device_;
  DeviceData& data_;
  cann::DeviceInputs& inputs_;
  cann5::OpRowWriter& op_rows_;
  cann5::TaskRows& task_rows_;
  OperatorsByTask ops_;
};

}  // namespace

void join(CannImport& import, const ImportContext& context) {
  TraceDbWriter& store = context.store;
  const auto& host = *import.cann5;
  const bool is_late = std::any_of(host.devices.begin(), host.devices.end(), [](const auto& one) {
    return !one.second.descriptions.empty();
  });
  // The last JOB folders have the binary records of CANN 5.
  if (is_late) return cann5::join(import, context);
  cann5::begin_join(import, context, "classic");
  cann::write_pmu_columns(import, context);
  std::map<std::int64_t, std::int64_t> model_rows;
  for (const auto& [number, name_id] : import.classic->model_names) {
    ModelRow row;
    row.id = static_cast<std::int64_t>(model_rows.size()) + 1;
    row.model_id = number;
    row.name_id = name_id;
    store.add(row);
    model_rows.emplace(number, row.id);
  }
  cann5::OpRowWriter op_rows(store);
  cann5::TaskRows task_rows{store};
  ClassicDeviceJoin::Ids ids;
  for (const CannPart& part : import.session.parts())
    ClassicDeviceJoin(import, context, part, op_rows, task_rows).run(model_rows, ids);
}

}  // namespace msprof::classic
