// The association of captures of 2019 to 2021: tasks of the log with the operators that the text
// files name, steps from the marks of training_trace. Source: cann5_classic.md 5.4, 9.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/number.hpp"
#include "import/cann5/cann5_import.hpp"
#include "import/cann5/old_tasks.hpp"
#include "import/classic/classic_import.hpp"

namespace msprof::classic {

namespace {

using cann::StreamRecord;
using cann5::OldTask;
using cann5::Run;

// Ids from here on name an operator without the stream.
constexpr std::uint32_t kFirstUniqueTask = 25'000;

// The operators of a device by the ids of their tasks.
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
    by_stream_.try_emplace(key_of(stream, task), op);
    if (task >= kFirstUniqueTask) by_task_.try_emplace(task, op);
  }
  // Ids that go on where the 16 bits of the log begin again (MindSpore of late 2021).
  bool has_long_ids() const { return has_long_ids_; }

  const Operator* find(std::uint32_t stream, std::uint32_t task) const {
    if (const Operator* op = at(by_stream_, key_of(stream, task))) return op;
    return task >= kFirstUniqueTask && !has_long_ids_ ? at(by_task_, std::uint64_t{task}) : nullptr;
  }

 private:
  using Map = std::unordered_map<std::uint64_t, Operator>;
  static std::uint64_t key_of(std::uint32_t stream, std::uint32_t task) {
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

// A step while its marks come.
struct Step {
  std::optional<std::uint64_t> forward, backward;
  std::map<std::uint16_t, std::vector<TraceMark>> reduces;  // by stream
};

class DeviceJoin {
 public:
  DeviceJoin(CannImport& import, const ImportContext& context, const CannPart& part,
             cann5::OpRows& op_rows, cann5::TaskRows& task_rows)
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
    std::int64_t iteration = 0;
    std::int64_t part = 0;
  };
  void run(const std::map<std::int64_t, std::int64_t>& model_rows, Ids& ids) {
    make_ops(model_rows, ids);
    write_tasks();
    write_steps(ids);
  }

 private:
  void tell(FindingId id, std::string_view kind, std::uint64_t count, std::string reason,
            std::string detail = "") {
    if (count == 0) return;
    context_.report.add(id, kind, part_.name, std::move(reason), std::move(detail),
                        static_cast<std::int64_t>(count));
  }

  // Described operators in their order, then tasks without a description.
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
      set_tensors(row, graph->tensors);
    }
    OpTaskRow place;
    place.id = ++ids.op_task;
    place.device_id = device_;
    place.iteration = 0;
    if (task != nullptr) {
      if (task->is_whole) {
        row.type_name_id = task->type_name_id;
        set_tensors(row, task->tensors);
      }
      row.block_num = task->blocks;
      row.unit_name_id = context_.store.name_id(task->kind == 1 ? "AI_CPU" : "AI_CORE");
      const auto model = model_rows.find(task->model);
      if (model != model_rows.end()) row.model_row = model->second;
      place.stream_id = task->stream;
      place.task_number = task->task;
      place.model_number = task->model;
    }
    place.op_id = op_rows_.id_of(row);
    context_.store.add(place);
    if (task == nullptr) return;
    ops_.add(task->stream, task->task, {place.op_id, task->name_id, task->model, task->kind});
  }

  static void set_tensors(OpRow& row, const TensorIds& tensors) {
    row.input_shapes_name_id = tensors[0];
    row.input_types_name_id = tensors[1];
    row.input_formats_name_id = tensors[2];
    row.output_shapes_name_id = tensors[3];
    row.output_types_name_id = tensors[4];
    row.output_formats_name_id = tensors[5];
  }

  void write_tasks() {
    cann5::RunPairing pairing;
    cann5::HwtsCounts counts = cann5::read_hwts(context_, inputs_.hwts, pairing);
    cann5::read_states(inputs_.ts_track.states, is_310(), pairing);
    std::vector<Run> runs = pairing.take();
    std::vector<cann::AicoreRecord> counters = cann5::read_counters(context_, import_, part_, runs);
    cann5::report_runs(context_, part_.name, pairing, counts);
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> turns;  // last id, turn
    std::uint64_t unnamed = 0;
    std::vector<OldTask> tasks;
    for (const Run& run : runs) {
      OldTask task = cann5::task_of(run, *part_.clock);
      const std::string_view type =
          is_310() ? cann::runtime_task_type_name(run.type) : std::string_view("AI_CORE");
      if (!type.empty()) task.device_type_name_id = context_.store.name_id(type);
      std::uint32_t number = run.task;
      if (ops_.has_long_ids()) {
        constexpr std::uint32_t kNearEnd = 65'000;
        auto& [last, turn] = turns[run.stream];
        if (last > kNearEnd && number < last) ++turn;
        last = number;
        number += std::min(turn, UINT32_MAX >> 17) << 16;
      }
      if (const auto* op = ops_.find(run.stream, number)) {
        task.op_id = op->op_id;
        task.kernel_name_id = op->name_id;
        task.model_number = op->model;
      } else {
        ++unnamed;
      }
      tasks.push_back(task);
    }
    if (!data_.tasks.empty())
      tell(FindingId::undescribed_tasks, "tasks", unnamed, "tasks without an operator",
           "The graph engine did not describe them.");
    const auto key = [&](const char* what) {
      return "old_counts." + std::to_string(device_) + '.' + what;
    };
    const auto count = [&](const char* what, std::uint64_t value) {
      context_.store.set_meta(key(what), std::to_string(value));
    };
    count("hwts_records", counts.records);
    count("hwts_other", counts.others);
    count("tasks_paired", tasks.size());
    count("starts_without_end", pairing.starts_without_end() + pairing.repeated_starts());
    count("ends_without_start", pairing.ends_without_start());
    count("tasks_without_operator", unnamed);
    task_rows_.write(device_, tasks, counters, (part_.info.aic_frequency_hz + 500'000) / 1'000'000,
                     is_310());
  }

  bool is_310() const {
    return import_.session.chip() && import_.session.chip()->family == cann::ChipFamily::mini;
  }

  // A step is what comes up to an end, whose tag is that of the time: 255, later 65535.
  void write_steps(Ids& ids) {
    constexpr std::uint64_t kOldEnd = 255;
    constexpr std::uint64_t kEnd = 65'535;
    enum : std::uint64_t { kForward = 1, kBackward = 2 };
    const bool is_later = std::any_of(data_.marks.begin(), data_.marks.end(),
                                      [](const TraceMark& mark) { return mark.tag == kEnd; });
    const std::uint64_t end_tag = is_later ? kEnd : kOldEnd;
    Step step;
    std::optional<std::uint64_t> last_end;
    std::int64_t number = 0;
    std::uint64_t with_reduces = 0;
    for (const TraceMark& mark : data_.marks) {
      if (mark.tag == 0 || mark.tag > end_tag) continue;  // the start, which is not used
      if (mark.tag == kForward) {
        step.forward = mark.ticks;
      } else if (mark.tag == kBackward) {
        step.backward = mark.ticks;
      } else if (mark.tag != end_tag) {
        step.reduces[mark.stream].push_back(mark);
      } else {
        ++number;
        with_reduces += step.reduces.empty() ? 0U : 1U;
        if (step.forward && step.backward) write_step(step, number, last_end, mark.ticks, ids);
        last_end = mark.ticks;
        step = {};
      }
    }
    const auto steps = static_cast<std::uint64_t>(number);
    if (with_reduces > 0)
      tell(FindingId::missing_reduces, "training_trace", steps - with_reduces,
           "steps without the reduces that others have", "Their records may be lost.");
  }

  std::int64_t ns(std::uint64_t ticks) const { return part_.clock->ns(ticks); }
  std::int64_t between(std::uint64_t from, std::uint64_t to) const {
    return to >= from ? part_.clock->duration_ns(to - from) : -part_.clock->duration_ns(from - to);
  }

  void write_step(const Step& step, std::int64_t number, std::optional<std::uint64_t> last_end,
                  std::uint64_t end, Ids& ids) {
    const std::uint64_t start = last_end.value_or(*step.forward);
    IterationRow row;
    row.id = ++ids.iteration;
    row.device_id = device_;
    row.model_number = 0;
    row.number = number;
    row.start_ns = ns(start);
    row.fp_start_ns = ns(*step.forward);
    row.bp_end_ns = ns(*step.backward);
    row.end_ns = ns(end);
    row.duration_ns = between(start, end);
    row.fp_bp_ns = between(*step.forward, *step.backward);
    row.refresh_ns = between(*step.backward, end);
    row.data_aug_ns = between(start, *step.forward);
    context_.store.add(row);
    for (const auto& [stream, marks] : step.reduces) {
      if (marks.size() % 2 != 0) continue;  // none of this stream can be told
      for (std::size_t i = 0; i < marks.size(); i += 2) {
        IterationPartRow part;
        part.id = ++ids.part;
        part.iteration_id = row.id;
        part.start_ns = ns(marks[i].ticks);
        part.end_ns = ns(marks[i + 1].ticks);
        part.stream_id = stream;
        part.number = static_cast<std::int64_t>(i / 2);
        part.type_name_id = context_.store.name_id(reduce_type(marks[i].tag));
        context_.store.add(part);
      }
    }
  }

  // The last part of the operator's name, up to the first "-".
  std::string reduce_type(std::uint64_t tag) const {
    const auto point = data_.points.find(tag);
    if (point == data_.points.end()) return "parallel";
    std::string_view name = point->second;
    name = name.substr(name.rfind('/') + 1);
    return std::string(name.substr(0, name.find('-')));
  }

  CannImport& import_;
  const ImportContext& context_;
  const CannPart& part_;
  std::int64_t device_;
  DeviceData& data_;
  cann::DeviceInputs& inputs_;
  cann5::OpRows& op_rows_;
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
  cann5::OpRows op_rows(store);
  cann5::TaskRows task_rows{store};
  DeviceJoin::Ids ids;
  for (const CannPart& part : import.session.parts())
    DeviceJoin(import, context, part, op_rows, task_rows).run(model_rows, ids);
}

}  // namespace msprof::classic
