#include "analyze/advise_scenes.hpp"

#include <array>
#include <cmath>

#include "derive/passes.hpp"
#include "derive/task_sums.hpp"

namespace msprof::test {

namespace {

constexpr std::array kLoads = {"mac_busy", "mac_ppen", "vec_busy", "vec_ppen",
                               "dstr",     "dtrans",   "dld",      "wld"};
constexpr std::int64_t kCycles = 1'000'000;

}  // namespace

Scene::Scene(std::string_view dialect) : writer_(folder_ / "msprof.db") {
  writer_.set_meta("dialect", dialect);
  writer_.set_meta("time_stamp", "20240515160507");
  writer_.set_meta("window.begin_ns", "0");
}

const TraceDb& Scene::db() {
  if (!db_) {
    finish();
    OpTimes op_times;
    derive_step_time(writer_, op_times);
    const TaskSums tasks = sum_tasks(writer_, op_times);
    derive_op_time(writer_, op_times);
    derive_execution_calls(writer_, tasks);
    writer_.publish();
    db_ = TraceDb::open(folder_ / "msprof.db");
  }
  return *db_;
}

void Scene::add_call(const std::string& call, std::int64_t start_us, std::int64_t end_us) {
  ApiCallRow row;
  row.id = ++calls_;
  row.process_id = row.thread_id = 1;
  row.type_name_id = name("model");
  row.name_id = name(call);
  row.start_ns = start_us * 1000;
  row.end_ns = end_us * 1000;
  writer_.add(row);
}

LayerScene::LayerScene(std::vector<Layer> layers) : Scene("svp"), layers_(std::move(layers)) {}

void LayerScene::finish() {
  writer_.set_meta("unit_loads", unit_loads_name(unit_loads));
  DeviceRow device;
  device.frequency_hz = 1'000'000'000;
  writer_.add(device);
  ModelRow model;
  model.id = model.device_id = 0;
  model.model_id = 1;
  model.name_id = name("net");
  model.batch_num = 1;
  writer_.add(model);
  StepRow step;
  step.model_row = 0;
  step.batch_num = step.input_pic_num = 1;
  step.current_pic_count = 0;
  step.icache_hit = icache_hit;
  step.icache_miss = icache_miss;
  writer_.add(step);
  writer_.add(PmuColumnRow{0, name("total_cycles")});
  for (std::size_t i = 0; i < kLoads.size(); ++i) {
    writer_.add(
        PmuColumnRow{static_cast<std::int64_t>(i) + 1, name(std::string(kLoads[i]) + "_cycles")});
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    OpRow op;
    op.id = op.layer_id = op.position = static_cast<std::int64_t>(i);
    op.model_row = op.net_id = 0;
    op.name_id = op.original_name_id = name(layers_[i].name);
    op.type_name_id = name(layers_[i].type);
    op.unit_name_id = name(layers_[i].on_cpu ? "AA_CPU" : "AA_CORE");
    writer_.add(op);
  }
  for (std::size_t execution = 0; execution < executions.size(); ++execution) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      add_task(i, static_cast<std::int64_t>(execution), layers_[i].us * executions[execution]);
  }
  TaskRunRow run;
  run.step_id = 0;
  run.first_task_id = 1;
  run.last_task_id = tasks_;
  writer_.add(run);
}

void LayerScene::add_task(std::size_t layer, std::int64_t execution, std::int64_t us) {
  TaskRow task;
  task.id = ++tasks_;
  task.step_id = 0;
  task.op_id = static_cast<std::int64_t>(layer);
  task.start_ns = now_us_ * 1000;
  task.duration_ns = us * 1000;
  task.execution = execution;
  now_us_ += us;
  writer_.add(task);
  if (layers_[layer].on_cpu) return;
  TaskPmuRow pmu;
  pmu.task_id = task.id;
  pmu.c[0] = task.duration_ns;
  for (std::size_t i = 0; i < kLoads.size(); ++i) {
    const auto load = layers_[layer].loads.find(kLoads[i]);
    const double percent = load == layers_[layer].loads.end() ? 10 : load->second;
    pmu.c[i + 1] = std::llround(static_cast<double>(task.duration_ns) * percent / 100);
  }
  writer_.add(pmu);
}

OperatorScene::OperatorScene(std::string metrics) : Scene("cann") {
  const bool is_pipe = metrics == "PipeUtilization";
  const std::vector<std::pair<std::string, std::string>> events =
      is_pipe ? std::vector<std::pair<std::string, std::string>>{{"vec", "0x8"},    {"mac", "0xa"},
                                                                 {"scalar", "0x9"}, {"mte1", "0xb"},
                                                                 {"mte2", "0xc"},   {"mte3", "0xd"}}
              : std::vector<std::pair<std::string, std::string>>{{"bankgroup", "0x64"},
                                                                 {"bank", "0x65"}};
  DeviceRow device;
  device.platform = 2;
  device.frequency_hz = 1'000'000'000;
  device.core_count = 8;
  device.core_metrics_name_id = device.vector_core_metrics_name_id = name(metrics);
  device.is_task_based = 1;
  writer_.add(device);
  writer_.add(PmuColumnRow{0, name("frequency_mhz")});
  writer_.add(PmuColumnRow{1, name("aic_total_cycles")});
  for (const auto& [event, number] : events) {
    events_.push_back(event);
    writer_.add(PmuColumnRow{static_cast<std::int64_t>(events_.size()) + 1, name("aic_" + number)});
  }
}

void OperatorScene::add(const Operator& op) {
  OpRow row;
  row.id = ++rows_;
  row.name_id = name(op.name);
  row.type_name_id = name(op.type);
  row.unit_name_id = name(op.unit);
  row.block_num = op.blocks;
  row.is_dynamic = 0;
  row.input_types_name_id = name(op.input_types);
  writer_.add(row);
  TaskRow task;
  task.id = task.op_id = row.id;
  now_ns_ += std::llround(op.wait_us * 1000);
  task.start_ns = now_ns_;
  task.duration_ns = std::llround(op.us * 1000);
  now_ns_ += task.duration_ns;
  task.device_id = 0;
  task.stream_id = 1;
  task.task_number = row.id;
  task.batch = 0;
  task.device_type_name_id = name("AI_CORE");
  writer_.add(task);
  if (op.ratios.empty()) return;
  TaskPmuRow pmu;
  pmu.task_id = row.id;
  pmu.c[0] = 1000;
  pmu.c[1] = kCycles;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const auto ratio = op.ratios.find(events_[i]);
    pmu.c[i + 2] = ratio == op.ratios.end() ? 0 : std::llround(ratio->second * kCycles);
  }
  writer_.add(pmu);
}

void OperatorScene::add_overlap(std::int64_t kind, std::int64_t begin_us, std::int64_t end_us) {
  writer_.add(OverlapRow{++rows_, 0, kind, begin_us * 1000, end_us * 1000});
}

std::int64_t OperatorScene::add_track(const Track& track) {
  TrackRow row;
  row.id = ++tracks_;
  if (!track.is_of_host) row.device_id = 0;
  row.kind_name_id = name(track.kind);
  row.subject_name_id = name(track.subject);
  if (!track.detail.empty()) row.detail_name_id = name(track.detail);
  row.name_id = name(track.counter);
  row.unit_name_id = name(track.unit);
  row.divisor = track.divisor;
  row.is_rate = track.is_rate ? 1 : 0;
  row.first_sample_id = 0;
  row.last_sample_id = INT64_MAX;
  writer_.add(row);
  return row.id;
}

void OperatorScene::add_sample(std::int64_t track, std::int64_t time_us, std::int64_t value) {
  writer_.add(CounterRow{++rows_, track, kNull, time_us * 1000, value});
}

void OperatorScene::add_interval(std::int64_t track, std::int64_t begin_us, std::int64_t end_us,
                                 std::int64_t value) {
  writer_.add(CounterRow{++rows_, track, begin_us * 1000, end_us * 1000, value});
}

void OperatorScene::add_iteration(std::int64_t number, std::int64_t begin_us, std::int64_t end_us) {
  IterationRow row;
  row.id = ++rows_;
  row.device_id = 0;
  row.model_number = 1;
  row.number = number;
  row.start_ns = begin_us * 1000;
  row.end_ns = end_us * 1000;
  row.duration_ns = row.end_ns - row.start_ns;
  writer_.add(row);
}

void OperatorScene::add_workspace(const std::string& op_name, std::int64_t bytes) {
  FusionOpRow row;
  row.id = 1;
  row.name_id = name(op_name);
  row.workspace_bytes = bytes;
  writer_.add(row);
}

}  // namespace msprof::test
