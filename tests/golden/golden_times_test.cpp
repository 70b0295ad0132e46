// The sums over a board's tasks that import stores (store/rows/time_rows.hpp), compared with the
// tasks themselves.
#include <catch2/catch.hpp>
#include <random>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

constexpr std::uint32_t kLayersOfRun = 7;
constexpr std::uint64_t kExecutionsOfRun = 60;

// Adds overlapping executions, some with missing layers; `is_mixed`: the records are not in order
// of start.
void add_records_of_run(Capture& capture, bool is_mixed, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<AicoreRecord> records;
  for (std::uint64_t execution = 0; execution < kExecutionsOfRun; ++execution) {
    for (std::uint32_t layer = 0; layer < kLayersOfRun; ++layer) {
      if (random() % 9 == 0) continue;
      const std::uint64_t start = 1000 + execution * 4000 + layer * 900 + random() % 300;
      records.push_back(layer_record(layer, start, 200 + random() % 700, execution));
      records.back().ddr_read = random() % 5000;
    }
  }
  if (is_mixed) {
    for (std::size_t i = 0; i + 9 < records.size(); i += 5)
      std::swap(records[i], records[i + random() % 9]);
  }
  std::vector<LayerLine> lines;
  for (std::uint32_t layer = 0; layer < kLayersOfRun; ++layer)
    lines.push_back({layer, 0, "Conv", "AA_CORE", "layer" + std::to_string(layer), ""});
  capture.job.info_json("1000").net_info("net", 1).layer_info("net", 1, lines);
  capture.job.data(DataName{}, aicore_file(records));
}

std::map<std::string, std::string> export_products(const Capture& capture,
                                                   const std::string& what) {
  REQUIRE(capture.run({"export", what, "-q"}).exit_code == 0);
  std::map<std::string, std::string> files;
  const auto folder = capture.job.folder() / what;
  for (const std::string& name : names_in(folder)) files[name] = read_file(folder / name);
  return files;
}

}  // namespace

TEST_CASE("times of layers and executions equal those of their tasks") {
  for (const bool is_mixed : {false, true}) {
    INFO("mixed: " << is_mixed);
    Capture capture;
    add_records_of_run(capture, is_mixed, 11);
    capture.import(0);
    CHECK(
        capture.rows("SELECT step_id, op_id, task_count, first_start_ns, total_ns, min_ns, max_ns"
                     " FROM layer_time ORDER BY id") ==
        capture.rows("SELECT step_id, op_id, count(*), min(start_ns), sum(duration_ns),"
                     " min(duration_ns), max(duration_ns) FROM task GROUP BY 1, 2 ORDER BY 1, 2"));
    CHECK(capture.rows("SELECT step_id, op_id, c0, c1, c12 FROM layer_time ORDER BY id") ==
          capture.rows("SELECT step_id, op_id, sum(c0), sum(c1), sum(c12) FROM task JOIN task_pmu"
                       " ON task_pmu.task_id = task.id GROUP BY 1, 2 ORDER BY 1, 2"));
    CHECK(capture.rows("SELECT step_id, execution, task_count, start_ns, busy_ns, timed_start_ns,"
                       " timed_last_start_ns, end_ns FROM execution_time ORDER BY id") ==
          capture.rows("SELECT step_id, execution, count(*), min(start_ns), sum(duration_ns),"
                       " min(start_ns), max(start_ns), max(start_ns + duration_ns) FROM task"
                       " GROUP BY 1, 2 ORDER BY 1, 2"));
    CHECK(capture.rows("SELECT timed_count, first_start_ns, last_start_ns, disorder_ns"
                       " FROM task_run_time") ==
          capture.rows("SELECT count(*), min(start_ns), max(start_ns), max(latest - start_ns) FROM"
                       " (SELECT start_ns, max(start_ns) OVER (ORDER BY id) AS latest FROM task)"));
    // If executions are out of order, import does not count them.
    if (!is_mixed) {
      CHECK(
          capture.rows("SELECT execution_count FROM layer_time ORDER BY id") ==
          capture.rows("SELECT count(DISTINCT execution) FROM task GROUP BY op_id ORDER BY op_id"));
    }
  }
}

TEST_CASE("layers of a board are drawn in the order of their start") {
  Capture ordered;
  add_records_of_run(ordered, false, 13);
  Capture mixed;
  add_records_of_run(mixed, true, 13);
  const auto timelines = export_products(ordered, "timeline");
  REQUIRE_FALSE(timelines.empty());
  CHECK(export_products(mixed, "timeline") == timelines);
  // Claims maximal disorder, so that all layers are buffered before the first is returned.
  mixed.rows("UPDATE task_run_time SET disorder_ns = 9223372036854775807");
  CHECK(export_products(mixed, "timeline") == timelines);
}
