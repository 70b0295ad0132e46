// The hot loops of importing PROF folders.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <filesystem>

#include "base/log.hpp"
#include "import/cann/record_stream.hpp"
#include "import/importer.hpp"
#include "import/raw_kind.hpp"
#include "support/prof/prof_run.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;

constexpr std::uint64_t kTasks = 20'000;

// One 910B run, shared by all loops.
const test::prof::MadeRun& made() {
  struct Folder {
    fs::path path = fs::temp_directory_path() / ("msprof_cann_bench_" + std::to_string(::getpid()));
    test::prof::MadeRun run;
    Folder() {
      log::set_level(log::Level::silent);
      test::prof::RunShape shape;
      shape.tasks = kTasks;
      run = test::prof::make_run(path, {}, shape);
    }
    ~Folder() { fs::remove_all(path); }
  };
  static const Folder folder;
  return folder.run;
}

std::uint64_t time_at(std::span<const std::byte> record) {
  std::uint64_t time = 0;
  std::memcpy(&time, record.data() + 16, sizeof time);
  return time;
}

// Finds the calls of a run in their slices and returns them in time order.
void calls_in_order(benchmark::State& state) {
  const cann::RecordFormat format = {
      "api_event", 40, [](std::span<const std::byte> record) { return record[0] == record[1]; },
      "bad magic", time_at};
  const auto session = Session::open(made().folder);
  TraceDbWriter store(made().folder / "bench.db");
  ImportReport report;
  const ImportContext context{*session, store, report, nullptr, made().folder};
  std::int64_t records = 0;
  for (auto _ : state) {
    cann::RecordStream stream(format);
    for (const RawFile& file : session->raw_files()) {
      if (file.name.find("api_event") != std::string::npos) stream.add(file, false);
    }
    stream.open(context);
    for (; stream.peek() != nullptr; stream.next()) {
      benchmark::DoNotOptimize(stream.peek()->time);
      ++records;
    }
  }
  state.SetItemsProcessed(records);
}
BENCHMARK(calls_in_order)->Unit(benchmark::kMillisecond);

// A whole import of a run that fits the CPU caches.
void import_tasks(benchmark::State& state) {
  const auto session = Session::open(made().folder);
  for (auto _ : state) import_session(*session, made().folder / "bench" / "msprof.db", {});
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(made().facts.tasks));
}
BENCHMARK(import_tasks)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
