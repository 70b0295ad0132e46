// Import reads exactly the data that was passed to the recorder.
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <thread>

#include "acl/recording_scene.hpp"
#include "derive/pmu_metrics.hpp"
#include "runtime/acl/prof/counters.hpp"
#include "runtime/engine/clock.hpp"
#include "support/files.hpp"
#include "wire/cann/aicpu_wire.hpp"

using namespace msprof;
using namespace msprof::test;
namespace prof_bits = msprof::acl::prof_bits;

namespace {

acl::RecordingOptions options_for(const TempFolder& folder, std::uint64_t bits, int chip = 5) {
  acl::RecordingOptions options;
  options.output = folder.path();
  options.devices = {0};
  options.bits = bits;
  options.chip = chip;
  return options;
}

}  // namespace

TEST_CASE("operators come back with their names, shapes and times on every chip") {
  const int chip = GENERATE(5, 4, 1);
  const TempFolder folder;
  const acl::OpInfo convolution = make_op("conv1", "Conv2D");
  const acl::OpInfo add = make_op("add1", "Add", 2);
  RunningRecording recording(options_for(folder, kAllTaskBits, chip));
  const std::uint64_t begin = runtime::monotonic_ns();
  for (std::uint32_t i = 0; i < 100; ++i) {
    const acl::TaskIds ids = {0, 3, i};
    run_op(i % 2 == 0 ? convolution : add, ids, begin + i * kStepNs);
  }
  recording.finish();

  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*), min(duration_ns), max(duration_ns)",
                       "task WHERE op_id IS NOT NULL") == "100|50|50");
  // Wall clock times, exact to the nanosecond.
  CHECK(imported.value("max(start_ns) - min(start_ns)", "task") == std::to_string(99 * kStepNs));
  CHECK(
      imported.rows(
          "name.text, kind.text, unit.text, shape.text, count(*)",
          "task JOIN op ON op.id = op_id JOIN name ON name.id = op.name_id"
          " JOIN name AS kind ON kind.id = type_name_id JOIN name AS unit ON unit.id = unit_name_id"
          " JOIN name AS shape ON shape.id = input_shapes_name_id GROUP BY 1, 2, 3, 4 ORDER BY "
          "1") == std::vector<std::string>{chip == 1 ? "add1|Add|AI_CORE|1,3,8,8|50"
                                                     : "add1|Add|AI_VECTOR_CORE|1,3,8,8|50",
                                           "conv1|Conv2D|AI_CORE|1,3,8,8|50"});
}

TEST_CASE("wall-clock times are exact to the microsecond") {
  const TempFolder folder;
  RunningRecording recording(options_for(folder, kAllTaskBits));
  timespec wall = {};
  const std::uint64_t before = runtime::monotonic_ns();
  clock_gettime(CLOCK_REALTIME, &wall);
  const std::uint64_t after = runtime::monotonic_ns();
  const acl::OpInfo op = make_op("relu", "Relu");
  run_op(op, {0, 1, 0}, before);
  recording.finish();
  const std::int64_t wall_ns = wall.tv_sec * std::int64_t{1'000'000'000} + wall.tv_nsec;
  const Imported imported(recording.folder());
  const std::int64_t start =
      std::stoll(imported.value("start_ns", "task")) - static_cast<std::int64_t>(kDelayNs);
  CHECK(start <= wall_ns + 1000);
  CHECK(start >= wall_ns - static_cast<std::int64_t>(after - before) - 1000);
}

TEST_CASE("70,000 tasks of a stream keep their operators when task ids wrap around") {
  const int chip = GENERATE(5, 4);
  const TempFolder folder;
  const acl::OpInfo even = make_op("even", "Relu");
  const acl::OpInfo odd = make_op("odd", "Relu");
  auto options = options_for(folder, kAllTaskBits | prof_bits::kAicoreMetrics, chip);
  options.metrics = 1;
  RunningRecording recording(options);
  const std::uint64_t begin = runtime::monotonic_ns();
  constexpr std::uint32_t kTasks = 70'000;
  for (std::uint32_t i = 0; i < kTasks; ++i)
    run_op(i % 2 == 0 ? even : odd, {0, 7, i}, begin + i * kStepNs);
  recording.finish();
  CHECK(recording->lost() == 0);

  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*), count(op_id), max(batch)", "task") == "70000|70000|1");
  // Odd and even tasks alternate.
  CHECK(imported.value("count(*)",
                       "task JOIN op ON op.id = op_id JOIN name ON name.id = name_id"
                       " WHERE (task.id - 1) % 2 = (name.text = 'odd')") == "70000");
  CHECK(imported.value("count(*)", "task_pmu") == "70000");
}

TEST_CASE("a recording started in the middle of a stream counts wraparounds like both sides") {
  const TempFolder folder;
  const acl::OpInfo op = make_op("relu", "Relu");
  RunningRecording recording(options_for(folder, kAllTaskBits));
  const std::uint64_t begin = runtime::monotonic_ns();
  for (std::uint32_t i = 0; i < 10; ++i) run_op(op, {0, 2, 3 * 65536 - 5 + i}, begin + i * kStepNs);
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(op_id), min(batch), max(batch)", "task") == "10|2|3");
}

TEST_CASE("the number of a destroyed stream is reused") {
  const TempFolder folder;
  const acl::OpInfo first = make_op("first", "Relu");
  const acl::OpInfo second = make_op("second", "Relu");
  RunningRecording recording(options_for(folder, kAllTaskBits));
  run_op(first, {0, 2, 0}, runtime::monotonic_ns() - 0);
  const std::uint64_t until = runtime::monotonic_ns() + 1000;
  while (runtime::monotonic_ns() < until) {
  }
  acl::record_stream_destroyed(0, 2);
  run_op(second, {0, 2, 0}, runtime::monotonic_ns() + 1000);
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.rows(
            "name.text",
            "task JOIN op ON op.id = op_id JOIN name ON name.id = name_id ORDER BY task.id") ==
        std::vector<std::string>{"first", "second"});
}

TEST_CASE("eight threads lose no record") {
  const TempFolder folder;
  const acl::OpInfo op = make_op("relu", "Relu");
  RunningRecording recording(options_for(folder, kAllTaskBits));
  constexpr std::uint32_t kThreads = 8;
  constexpr std::uint32_t kTasks = 20'000;
  std::vector<std::thread> threads;
  for (std::uint32_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      const std::uint64_t begin = runtime::monotonic_ns();
      for (std::uint32_t i = 0; i < kTasks; ++i)
        run_op(op, {0, static_cast<std::uint16_t>(number), i}, begin + i * kStepNs);
    });
  }
  for (std::thread& thread : threads) thread.join();
  recording.finish();
  CHECK(recording->lost() == 0);
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*), count(op_id)", "task") == "160000|160000");
}

TEST_CASE("every set of metrics has the events of its columns") {
  const int chip = GENERATE(5, 4, 1);
  for (std::uint32_t number = 0; number <= 8; ++number) {
    const TempFolder folder;
    const acl::OpInfo convolution = make_op("conv1", "Conv2D");
    const acl::OpInfo add = make_op("add1", "Add", 2);
    auto options = options_for(folder, kAllTaskBits | prof_bits::kAicoreMetrics, chip);
    options.metrics = number;
    RunningRecording recording(options);
    const std::uint64_t begin = runtime::monotonic_ns();
    run_op(convolution, {0, 1, 0}, begin);
    run_op(add, {0, 1, 1}, begin + kStepNs);
    recording.finish();

    const Imported imported(recording.folder());
    INFO(imported.text());
    CHECK(imported.verdict() == Severity::note);
    CHECK(imported.value("count(*)", "task_pmu") == "2");
    // The events needed by the metrics of this name, from the tables of derive.
    for (const bool is_vector : {false, true}) {
      const auto set = acl::counter_set(static_cast<acl::Metrics>(number), chip, is_vector);
      INFO(set.name << " " << set.events);
      const auto metrics = pmu_set(set.name, chip);
      CHECK_FALSE(metrics.empty());
      const std::string events = "," + set.events + ",";
      for (const PmuMetric& metric : metrics) {
        for (std::size_t i = 0; i < metric.term_count; ++i) {
          char text[16];
          snprintf(text, sizeof(text), ",0x%x,", metric.terms[i].event);
          INFO(metric.name);
          CHECK(events.find(text) != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("modelled cycles never exceed the elapsed time") {
  runtime::LayerWork work;
  work.macs = work.padded_macs = 1'000'000'000;
  work.vector_ops = work.padded_vector_ops = 1'000'000'000;
  work.input_bytes = work.weight_bytes = work.output_bytes = work.relayout_bytes = 1'000'000'000;
  for (const bool is_vector : {false, true}) {
    const auto values = acl::count_events(acl::Metrics::pipe, 5, is_vector, work, 2, 1000);
    for (const std::uint64_t value : values) CHECK(value <= 1000);
  }
  // 240 multiply-accumulates at 24 per cycle.
  const acl::OpInfo op = make_op("conv", "Conv2D");
  CHECK(acl::count_events(acl::Metrics::pipe, 4, false, op.work, 1, 1000)[1] == 10);
}

TEST_CASE("calls, models, copies and runtime calls are recorded by their bits") {
  const TempFolder folder;
  const acl::OpInfo op = make_op("conv1", "Conv2D");
  acl::record_model_load(4, "known_before", {}, 1, 2);
  RunningRecording recording(options_for(folder, kAllTaskBits | prof_bits::kRuntimeApi));
  { const acl::RecordedCall call(acl::Call::aclrtMalloc); }
  const std::uint64_t begin = runtime::monotonic_ns();
  acl::record_model_load(5, "face_mask", {}, begin, begin + 1000);
  run_op(op, {0, 1, 0}, begin + 2000);
  acl::Launch copy;
  copy.ids = {0, 1, 1};
  copy.begin_ns = begin + 3000;
  copy.end_ns = begin + 3100;
  acl::record_copy_launch(copy, 4096, acl::CopyDirection::host_to_device);
  acl::RanTask copied;
  copied.ids = copy.ids;
  copied.kind = acl::TaskKind::memcpy_async;
  copied.begin_ns = begin + 3200;
  copied.end_ns = begin + 3300;
  acl::record_task(copied);
  acl::record_model_execution(5, 1, begin + 1500, begin + 3500, 0);
  acl::record_step({0, 1, 2}, 1, 5, 0, begin + 1900);
  acl::record_step({0, 1, 3}, 1, 5, 1, begin + 3400);
  recording.finish();

  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*)", "task WHERE model_number = 5") == "2");
  std::map<std::string, std::string> calls;
  for (const std::string& row :
       imported.rows("name.text, count(*)",
                     "api_call JOIN name ON name.id = api_call.name_id GROUP BY 1 ORDER BY 1")) {
    const auto bar = row.find('|');
    calls[row.substr(0, bar)] = row.substr(bar + 1);
  }
  CHECK(calls["aclrtMalloc"] == "1");
  CHECK(calls["launch"] == "1");
  CHECK(calls["ModelExecute"] == "1");
  CHECK(calls["ModelLoad"] == "1");
  CHECK(calls["LaunchKernelWithHandle"] == "1");
  CHECK(calls["MemcopyAsync"] == "1");
}

TEST_CASE("fusions of a model are recorded when it is loaded") {
  const TempFolder folder;
  const std::vector<std::string> three = {"conv", "conv_bn", "conv_relu"};
  const std::vector<std::string> nine = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  const std::vector<acl::FusedOp> fused = {{"conv_fused", three, 100, 200, 30, 4},
                                           {"many", nine, 1, 1, 1, 1}};
  RunningRecording recording(options_for(folder, kAllTaskBits));
  const std::uint64_t begin = runtime::monotonic_ns();
  acl::record_model_load(5, "face_mask", fused, begin, begin + 1000);
  run_op(make_op("conv_fused", "ConvBNRelu"), {0, 1, 0}, begin + 2000);
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  // A record holds up to eight original operators.
  CHECK(imported.rows("model_number, op.text, original.text, input_bytes, output_bytes, "
                      "weight_bytes, workspace_bytes, total_bytes",
                      "fusion_op AS f JOIN name AS op ON op.id = f.name_id"
                      " JOIN name AS original ON original.id = f.original_names_name_id") ==
        std::vector<std::string>{"5|conv_fused|conv;conv_bn;conv_relu|100|200|30|4|334"});
}

TEST_CASE("level 0 records names and blocks, but no shapes") {
  const TempFolder folder;
  const acl::OpInfo op = make_op("conv1", "Conv2D");
  RunningRecording recording(options_for(folder, prof_bits::kTaskTimeL0));
  run_op(op, {0, 1, 0}, runtime::monotonic_ns());
  { const acl::RecordedCall call(acl::Call::aclrtMalloc); }
  recording.finish();
  const auto data = recording.folder() / "host" / "data";
  CHECK(std::filesystem::exists(data / "aging.compact.node_basic_info.slice_0"));
  CHECK_FALSE(std::filesystem::exists(data / "aging.additional.tensor_info.slice_0"));
  CHECK_FALSE(std::filesystem::exists(data / "aging.compact.node_attr_info.slice_0"));
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("name.text",
                       "task JOIN op ON op.id = op_id JOIN name ON name.id = name_id") == "conv1");
  CHECK(imported.value("count(*)", "api_call") == "1");
}

TEST_CASE("two recordings have separate devices, and records without a device are in both") {
  const TempFolder folder;
  const acl::OpInfo op = make_op("conv1", "Conv2D");
  auto first_options = options_for(folder, kAllTaskBits);
  first_options.devices = {0, 1};
  RunningRecording first(first_options);
  auto second_options = options_for(folder, kAllTaskBits);
  second_options.devices = {2};
  RunningRecording second(second_options);
  { const acl::RecordedCall call(acl::Call::aclrtMalloc); }
  const std::uint64_t begin = runtime::monotonic_ns();
  for (std::uint16_t device = 0; device < 4; ++device)
    run_op(op, {device, 1, 0}, begin + device * kStepNs);
  CHECK(acl::records_tasks(2));
  CHECK_FALSE(acl::records_tasks(3));
  first.finish();
  second.finish();
  CHECK_FALSE(acl::is_recording());
  const Imported one(first.folder());
  const Imported two(second.folder());
  CHECK(one.verdict() == Severity::note);
  CHECK(two.verdict() == Severity::note);
  CHECK(one.rows("device_id", "task ORDER BY 1") == std::vector<std::string>{"0", "1"});
  CHECK(two.rows("device_id", "task ORDER BY 1") == std::vector<std::string>{"2"});
  const std::string mallocs =
      "api_call JOIN name ON name.id = api_call.name_id WHERE name.text = 'aclrtMalloc'";
  CHECK(one.value("count(*)", mallocs) == "1");
  CHECK(two.value("count(*)", mallocs) == "1");
}

TEST_CASE("operators of the CPU have the records of an AI CPU") {
  const int chip = GENERATE(5, 4, 1);
  const TempFolder folder;
  const acl::OpInfo op = make_op("topk", "TopK", 1);
  RunningRecording recording(options_for(folder, kAllTaskBits | prof_bits::kAicpu, chip));
  run_op(op, {0, 1, 0}, runtime::monotonic_ns());
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*), name.text", "aicpu_node JOIN name ON name.id = op_name_id") ==
        "1|topk");
}

TEST_CASE("the record of an AI CPU ends within its task, however short that is") {
  const int chip = GENERATE(5, 4, 1);
  const std::uint64_t task_ns = GENERATE(1U, 2U, 999U, 1'000U, 250'000U);
  CAPTURE(chip, task_ns);
  const TempFolder folder;
  const acl::OpInfo op = make_op("topk", "TopK", 1);
  RunningRecording recording(options_for(folder, kAllTaskBits | prof_bits::kAicpu, chip));
  const std::uint64_t begin = runtime::monotonic_ns();
  acl::RanTask task;
  task.ids = {0, 1, 0};
  task.op = &op;
  task.begin_ns = begin + 100;
  task.end_ns = task.begin_ns + task_ns;
  acl::record_op_launch({task.ids, begin, begin + 10}, op, 1);
  acl::record_task(task);
  recording.finish();
  const auto data = recording.folder() / "device_0" / "data";
  std::uint64_t end = 0;
  if (chip == 5) {
    cann::AicpuNodeWire record = {};
    const std::string bytes = read_file(data / "aicpu.data.0.slice_0");
    REQUIRE(bytes.size() >= sizeof(record));
    std::memcpy(&record, bytes.data(), sizeof(record));
    end = record.end_ticks;
    CHECK(record.run_end == end / 1000);
  } else {
    cann::OldAicpuWire record = {};
    const std::string bytes = read_file(data / "DATA_PREPROCESS.AICPU.0.slice_0");
    REQUIRE(bytes.size() >= sizeof(record));
    std::memcpy(&record, bytes.data(), sizeof(record));
    end = record.end_ticks;
  }
  CHECK(end >= task.begin_ns);
  CHECK(end < task.end_ns);
  // Readers use floating point, whose resolution is many ns after weeks of uptime.
  if (task_ns > 2000) CHECK(end + 1000 <= task.end_ns);
}

TEST_CASE("memory of operators is recorded") {
  const TempFolder folder;
  RunningRecording recording(options_for(folder, prof_bits::kTaskMemory | prof_bits::kTaskTimeL0));
  acl::record_memory(0, "conv1", 0x1000, 4096, 4096, 8192);
  acl::record_memory(0, "conv1", 0x1000, -4096, 0, 8192);
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*), sum(size_bytes)", "memory_event") == "2|0");
}

TEST_CASE("the L2 cache events are those of its rates") {
  const int chip = GENERATE(5, 4, 1);
  const TempFolder folder;
  const acl::OpInfo op = make_op("conv1", "Conv2D");
  RunningRecording recording(
      options_for(folder, kAllTaskBits | prof_bits::kL2Cache | prof_bits::kHcclTrace, chip));
  run_op(op, {0, 1, 0}, runtime::monotonic_ns());
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.found(FindingId::no_collectives));
  // 1,280 bytes in and 640 out, in cache lines of 128.
  CHECK(imported.value("count(*), sum(e0)", "l2_cache") == (chip == 1 ? "1|15" : "1|10"));
}
