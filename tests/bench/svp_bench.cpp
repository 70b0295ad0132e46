// The hot loops of an svp import and export.
#include <benchmark/benchmark.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/atomic_file.hpp"
#include "export/table/table_writers.hpp"
#include "export/trace/trace_json_writer.hpp"
#include "import/record_layout.hpp"
#include "store/trace_db_writer.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;

// Decodes one aicore record with the table-driven decoder.
void decode_aicore(benchmark::State& state) {
  const RecordLayout& layout = *LayoutSet::reference().find("aicore");
  const std::vector<std::byte> record(layout.record_bytes, std::byte{1});
  std::array<std::int64_t, kAicoreFields.size()> slots{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(layout.decode(record, slots));
    benchmark::DoNotOptimize(slots);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode_aicore);

// Inserts the two rows of one task into the store.
void insert_task(benchmark::State& state) {
  const fs::path path = fs::temp_directory_path() / "msprof_bench_insert.db";
  {
    TraceDbWriter store(path);
    std::int64_t id = 0;
    for (auto _ : state) {
      TaskPmuRow pmu;
      pmu.task_id = ++id;
      for (std::int64_t& counter : pmu.c) counter = 1000 * id % 77777;
      store.add(TaskRow{id, 1, id % 50, 1'000'000 * id, 123'456, id / 50, kNull});
      store.add(pmu);
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(insert_task);

void write_event(benchmark::State& state) {
  AtomicFile file(fs::temp_directory_path() / "msprof_bench_events.json");
  PlainSink sink(file);
  TraceJsonWriter writer(sink);
  std::int64_t start_ns = 81'234'567'890'123;
  for (auto _ : state) {
    start_ns += 150'000;
    if (!writer.begin_svp_slice("conv5_3_pointwise", {0, 0}, start_ns, 123'456)) break;
    writer.argument("Task Type", "AA CORE");
    writer.argument("Stream Id", 0);
    writer.argument("Task Id", start_ns);
    writer.end_event();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(file.bytes_written()));
}
BENCHMARK(write_event);

void write_csv_row(benchmark::State& state) {
  AtomicFile file(fs::temp_directory_path() / "msprof_bench_rows.csv");
  CsvWriter writer(file);
  RowBuilder row(writer);
  for (auto _ : state) {
    row.number(std::int64_t{12});
    row.text("conv5_3_pointwise");
    for (int i = 0; i < 12; ++i) row.number(12'345'678, CellForm::us);
    row.end_row();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(file.bytes_written()));
}
BENCHMARK(write_csv_row);

}  // namespace

BENCHMARK_MAIN();
