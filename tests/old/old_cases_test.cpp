// The shared cases of old captures: every table is compared with the result of an independent
// reader. Also real JOB folders.
#include <algorithm>
#include <catch2/catch.hpp>

#include "export/exporter.hpp"
#include "golden/shared_cases.hpp"
#include "old/old_capture.hpp"
#include "session/session.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

void compare_tables(const OldCapture& capture, const fs::path& expected,
                    std::optional<std::int64_t> model, std::optional<std::int64_t> iteration) {
  for (const std::string& file : names_in(expected)) {
    const std::string name = fs::path(file).stem().string();
    INFO(expected.string() << ": " << name);
    CHECK(differences(parse_csv(read_file(expected / file)),
                      capture.table(name, model, iteration)) == "equal");
  }
}

}  // namespace

TEST_CASE("Tables of CANN 5 equal those of an independent reader, for each iteration") {
  if (!has_cases_or_skip("old")) return;
  for (const std::string name : {"cann5_a", "cann5_b"}) {
    const fs::path folder = shared_folder() / "cases" / "old" / name;
    const OldCapture capture(prof_in(folder / "input"));
    CHECK(capture.damage().empty());
    for (const std::int64_t iteration : {1, 2, 3})
      compare_tables(capture, folder / "expected" / ("iter_" + std::to_string(iteration)), 1,
                     iteration);
  }
}

TEST_CASE("Tables of a classic JOB equal those of an independent reader") {
  if (!has_cases_or_skip("old")) return;
  const fs::path folder = shared_folder() / "cases" / "old" / "classic_a";
  const OldCapture capture(prof_in(folder / "input"));
  CHECK(capture.damage().empty());
  compare_tables(capture, folder / "expected" / "tables", {}, {});
}

TEST_CASE("A JOB folder is still recognized after products are written to it") {
  if (!has_cases_or_skip("old")) return;
  const TempFolder temp;
  const fs::path job = temp / "JOB";
  fs::copy(prof_in(shared_folder() / "cases" / "old" / "classic_a" / "input"), job,
           fs::copy_options::recursive);
  const OldCapture capture(job);
  export_summaries(*TraceDb::open(capture.store()), job, {.style = ExportStyle::cann5});
  CHECK(fs::exists(job / "summary" / "op_time_0.csv"));
  CHECK(recognise(job) == Dialect::classic);
}

TEST_CASE("Real JOB folders are read, and the damaged one is partial") {
  if (!has_cases_or_skip("old")) return;
  const fs::path samples = shared_folder() / "samples" / "classic_job";
  for (const std::string name : {"JOB1", "JOB4", "JOB_AICPU"}) {
    INFO(name);
    CHECK(OldCapture(samples / name).damage().empty());
  }
  CHECK(!OldCapture(samples / "ERROR_JOB").damage().empty());

  const OldCapture steps(samples / "JOB1");
  CHECK(steps.table("step_trace").rows.size() == 20);
  CHECK(steps.table("reduce").rows.size() == 80);

  // Expected values come from MindInsight's parsers.
  const OldCapture nodes(samples / "JOB_AICPU");
  CHECK(nodes.table("aicpu").cells() ==
        std::vector<std::string>{"1|InitData|1.567|0.100|2298200409|2298200538",
                                 "2|GetNext|0.989|0.087|2302769932|2302769980",
                                 "3|TruncatedNormal|1.566|0.105|4098200409|4098200538"});
}
