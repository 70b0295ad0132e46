// Exports tasks and calls of a store as Parquet, compared with a bare read of the same cells by
// SQLite. Prints rows per second of CPU time, and file bytes per raw byte.
#include <benchmark/benchmark.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "base/log.hpp"
#include "export/exporter.hpp"
#include "export/parquet/parquet_export.hpp"
#include "import/importer.hpp"
#include "support/prof/prof_run.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;

constexpr std::uint64_t kTasks = 200'000;

// One imported 910B run, shared by both benchmarks.
struct Imported {
  fs::path folder =
      fs::temp_directory_path() / ("msprof_parquet_bench_" + std::to_string(::getpid()));
  std::uint64_t raw_bytes = 0;

  Imported() {
    log::set_level(log::Level::silent);
    test::prof::RunShape shape;
    shape.tasks = kTasks;
    const auto run = test::prof::make_run(folder, {}, shape);
    raw_bytes = run.facts.raw_bytes;
    import_session(*Session::open(run.folder), store(), {});
    fs::remove_all(run.folder);
  }
  ~Imported() { fs::remove_all(folder); }
  fs::path store() const { return folder / "msprof.db"; }

  static const Imported& once() {
    static const Imported imported;
    return imported;
  }
};

void export_parquet_files(benchmark::State& state) {
  const Imported& run = Imported::once();
  const auto store = TraceDb::open(run.store());
  Statement count =
      store->prepare("SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM api_call)");
  count.step();
  const std::int64_t rows = count.integer(0);
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (const ExportedFile& file : export_parquet(*store, run.folder / "out", "capture"))
      bytes += file.bytes;
  }
  state.SetItemsProcessed(state.iterations() * rows);
  state.counters["raw_bytes_of_one"] =
      static_cast<double>(run.raw_bytes) / static_cast<double>(bytes);
}
BENCHMARK(export_parquet_files)->Unit(benchmark::kMillisecond);

std::int64_t read_bare(sqlite3* db, const char* sql) {
  sqlite3_stmt* read = nullptr;
  if (sqlite3_prepare_v2(db, sql, -1, &read, nullptr) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(db));
  const int columns = sqlite3_column_count(read);
  std::int64_t rows = 0;
  std::int64_t sum = 0;
  for (; sqlite3_step(read) == SQLITE_ROW; ++rows) {
    for (int i = 0; i < columns; ++i) sum ^= sqlite3_column_int64(read, i);
  }
  benchmark::DoNotOptimize(sum);
  sqlite3_finalize(read);
  return rows;
}

// Reads the cells that the export reads and discards them.
void read_with_sqlite(benchmark::State& state) {
  sqlite3* db = nullptr;
  if (sqlite3_open_v2(Imported::once().store().c_str(), &db, SQLITE_OPEN_READONLY, nullptr) !=
      SQLITE_OK) {
    state.SkipWithError("the store cannot be opened");
  }
  std::int64_t rows = 0;
  for (auto _ : state) {
    rows += read_bare(db,
                      "SELECT id, step_id, op_id, start_ns, duration_ns, execution, device_id,"
                      " stream_id, task_number, host_type_name_id, device_type_name_id,"
                      " model_number, api_id FROM task");
    rows += read_bare(db,
                      "SELECT id, process_id, thread_id, type_name_id, name_id, start_ns, end_ns,"
                      " level, item_name_id FROM api_call");
  }
  sqlite3_close(db);
  state.SetItemsProcessed(rows);
}
BENCHMARK(read_with_sqlite)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
