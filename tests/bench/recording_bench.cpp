// Throughput of recording: task records per second and thread, compared with a memcpy of the same
// bytes; cost of a launch and of an operator's task. `lost` must be 0.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/acl/prof/recorder.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "runtime/engine/clock.hpp"

namespace {

using namespace msprof;

// Recording folder: MSPROF_BENCH_FOLDER, or else the folder for temporary files.
class Folder {
 public:
  Folder() {
    const char* const chosen = getenv("MSPROF_BENCH_FOLDER");
    const std::filesystem::path parent =
        chosen != nullptr ? chosen : std::filesystem::temp_directory_path();
    path_ = (parent / "msprof_bench_XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<Folder> g_folder;
std::shared_ptr<acl::Recording> g_recording;

void start(const benchmark::State&) {
  g_folder = std::make_unique<Folder>();
  acl::RecordingOptions options;
  options.output = g_folder->path();
  options.devices = {0};
  options.bits = acl::prof_bits::kAclApi | acl::prof_bits::kTaskTime | acl::prof_bits::kTaskTimeL0 |
                 acl::prof_bits::kAicoreMetrics;
  options.metrics = 1;
  std::string why;
  g_recording = acl::Recording::start(options, why);
  if (g_recording != nullptr) acl::ActiveRecordings::instance().add(g_recording);
}

void stop(const benchmark::State&) {
  if (g_recording == nullptr) return;
  acl::ActiveRecordings::instance().remove(g_recording);
  g_recording->finish();
  g_recording.reset();
  g_folder.reset();
}

// Task records of 64 bytes, written by concurrent threads to one file, compared with memcpy to
// memory whose pages are as fresh as the file's.
constexpr std::size_t kRecordBytes = 64;

double memcpy_seconds(std::size_t records) {
  const std::unique_ptr<std::byte[]> to(new std::byte[records * kRecordBytes]);
  const std::vector<std::byte> from(kRecordBytes, std::byte{1});
  const std::uint64_t begin = runtime::monotonic_ns();
  for (std::size_t i = 0; i < records; ++i) {
    std::memcpy(to.get() + i * kRecordBytes, from.data(), kRecordBytes);
    benchmark::ClobberMemory();
  }
  return static_cast<double>(runtime::monotonic_ns() - begin) * 1e-9;
}

void task_records(benchmark::State& state) {
  if (g_recording == nullptr) return state.SkipWithError("no recording");
  std::vector<std::byte> record(kRecordBytes, std::byte{1});
  const std::uint64_t begin = runtime::monotonic_ns();
  for (auto _ : state) g_recording->append(acl::HostFile::task_track, record.data());
  const double seconds = static_cast<double>(runtime::monotonic_ns() - begin) * 1e-9;
  const auto count = static_cast<std::size_t>(state.iterations());
  state.counters["a_thread_per_s"] = benchmark::NumberBits(static_cast<double>(count) / seconds,
                                                           benchmark::NumberBits::kAvgThreads);
  state.counters["to_memcpy"] =
      benchmark::NumberBits(seconds / memcpy_seconds(count), benchmark::NumberBits::kAvgThreads);
  state.counters["lost"] = benchmark::NumberBits(static_cast<double>(g_recording->lost()),
                                                 benchmark::NumberBits::kAvgThreads);
}
BENCHMARK(task_records)
    ->Setup(start)
    ->Teardown(stop)
    ->Threads(1)
    ->Threads(8)
    ->Iterations(1'000'000)
    ->UseRealTime();

// The records of an operator: launch, description and shapes on the host; start, end and counters
// on the device; four clock readings.
void operator_records(benchmark::State& state) {
  if (g_recording == nullptr) return state.SkipWithError("no recording");
  acl::OpInfo op;
  op.name = "conv1";
  op.type = "Conv2D";
  op.tensors = {{0, 0, 0, {1, 3, 8, 8}}, {1, 0, 0, {1, 16, 8, 8}}};
  op.work.macs = op.work.padded_macs = 1'000'000;
  acl::describe(op);
  std::uint32_t sequence = 0;
  for (auto _ : state) {
    acl::Launch launch;
    launch.ids = {0, static_cast<std::uint16_t>(state.thread_index()), sequence++};
    launch.begin_ns = runtime::monotonic_ns();
    launch.end_ns = runtime::monotonic_ns();
    acl::record_op_launch(launch, op, 1);
    acl::RanTask task;
    task.ids = launch.ids;
    task.op = &op;
    task.begin_ns = runtime::monotonic_ns();
    task.end_ns = runtime::monotonic_ns();
    acl::record_task(task);
  }
  state.counters["lost"] = benchmark::NumberBits(static_cast<double>(g_recording->lost()),
                                                 benchmark::NumberBits::kAvgThreads);
}
BENCHMARK(operator_records)
    ->Setup(start)
    ->Teardown(stop)
    ->Threads(1)
    ->Threads(8)
    ->Iterations(200'000)
    ->UseRealTime();

// Cost of a call when nothing is recorded.
void call_unrecorded(benchmark::State& state) {
  for (auto _ : state) {
    const acl::RecordedCall call(acl::Call::aclrtMalloc);
    benchmark::DoNotOptimize(&call);
  }
}
BENCHMARK(call_unrecorded);

}  // namespace

BENCHMARK_MAIN();
