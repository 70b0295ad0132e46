// Whole generated runs: every product has the expected number of rows.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;

namespace {

struct Products {
  std::filesystem::path folder;
  CsvTable table(std::string_view stem) const { return read_product(folder, stem); }
  std::uint64_t rows(std::string_view stem) const { return table(stem).rows.size(); }
  std::uint64_t sum(std::string_view stem, std::string_view column) const {
    const CsvTable all = table(stem);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < all.rows.size(); ++i) total += std::stoull(all.cell(i, column));
    return total;
  }
};

void check(const ProfSetup& setup, const RunShape& shape) {
  const TempFolder folder;
  const MadeRun run = make_run(folder.path(), setup, shape);
  const RunResult result = run_msprof({"export", "summary", "-q", "-dir", run.folder.string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const Products made = {run.folder / "mindstudio_profiler_output"};
  const RunInfo& facts = run.facts;
  CHECK(made.rows("task_time") == facts.tasks);
  CHECK(made.rows("op_summary") == facts.ops + facts.collectives);
  CHECK(made.sum("op_statistic", "Count") == facts.ops);
  CHECK(made.sum("communication_statistic", "Count") == facts.collectives);
  CHECK(made.sum("api_statistic", "Count") == facts.calls);
  CHECK(made.rows("step_trace") == facts.steps);
  CHECK(made.rows("msprof_tx") == facts.marks);
  CHECK(made.rows("memory_record") == facts.memory_events);
  CHECK(made.rows("operator_memory") == facts.memory_events / 2);
  if (setup.is_stars()) CHECK(made.rows("aicpu") == facts.aicpu_ops);

  // Each operator has a separate type, and counters only if they were recorded.
  const CsvTable ops = made.table("op_summary");
  std::map<std::string, std::uint64_t> by_type;
  for (const std::string& type : ops.column_cells("OP Type")) {
    if (type != "hcom_allReduce_") ++by_type[type];
  }
  CHECK(by_type == facts.ops_by_type);
  const auto times = ops.column_cells("aicore_time(us)");
  const auto without = static_cast<std::uint64_t>(std::count(times.begin(), times.end(), "N/A"));
  CHECK(ops.rows.size() - without == facts.pmu_ops);
}

}  // namespace

TEST_CASE("a run on one 910B is exported completely") {
  RunShape shape;
  shape.tasks = 3000;
  check({}, shape);
}

TEST_CASE(
    "a run on two 910B with wraparounds of task ids and small slices is exported completely") {
  ProfSetup setup;
  setup.devices = {0, 3};
  RunShape shape;
  shape.tasks = 4000;
  shape.threads = 4;
  shape.streams = 6;
  shape.flip_at = 150;
  shape.slice_limit = 20'000;
  shape.seed = 77;
  check(setup, shape);
}

TEST_CASE("a run on a 910A is exported completely") {
  RunShape shape;
  shape.tasks = 1500;
  check(setup_910a(), shape);
}

TEST_CASE("a run on a 310P with wraparounds of task ids is exported completely") {
  RunShape shape;
  shape.tasks = 1500;
  shape.flip_at = 200;
  check(setup_310p(), shape);
}
