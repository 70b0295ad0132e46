// Exports of one iteration: the host launches its tasks long before the device runs them, and
// launches the next iteration's tasks while the device runs it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "golden/cann_fixture.hpp"
#include "golden/timeline_file.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kOtherThread = 200;

// Adds an iteration of model 1.
void add_iteration(ProfScene& scene, std::uint64_t number, std::uint64_t begin, std::uint64_t end) {
  scene.step(0, begin, 0, number, 1, 3);
  scene.step(0, end, 4, number, 1, 3);
  scene.step(0, end + 100, 1, number, 1, 3);
}

// Iterations 1 and 2 of model 1: on the device from 100 to 200 us and from 200 to 300 us, with two
// tasks each.
struct TwoIterations : ProfCapture {
  TwoIterations() {
    scene.mark(kThread, 500, 4500, "step 1");
    scene.launch({"a1", "Add", Core::aiv, 40}, {kThread, 1000, 2000},
                 device_task(1, 110'000, 120'000));
    scene.launch({"a2", "Add", Core::aiv, 40}, {kThread, 3000, 4000},
                 device_task(2, 130'000, 140'000));
    scene.mark(kThread, 4600, 6600, "step 2");
    scene.launch({"b1", "Mul", Core::aiv, 40}, {kThread, 5000, 6000},
                 device_task(3, 210'000, 220'000));
    // A task of iteration 2, launched during iteration 1.
    scene.launch({"b2", "Mul", Core::aiv, 40}, {kThread, 150'000, 151'000},
                 device_task(4, 230'000, 240'000));
    // A call of another thread at the same time that launches no task.
    scene.call(kAcl, kAclnnAdd, {kOtherThread, 160'000, 161'000});
    add_iteration(scene, 1, 100'000, 200'000);
    add_iteration(scene, 2, 200'200, 300'000);
    prof.finish();
  }

  // Exports an iteration into a new folder; returns the folder.
  fs::path exported(const std::string& what, const std::string& iteration, const Lines& more = {}) {
    const fs::path out = folder / (what + iteration + (more.empty() ? "" : more.back()));
    Lines words = {"export",  what,       "--model-id", "1", "--iteration-id",
                   iteration, "--output", out.string(), "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const RunResult result = run(words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return out;
  }
  CsvTable read_table(const fs::path& out, std::string_view name) {
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with(std::string(name) + "_") && file.ends_with(".csv"))
        return parse_csv(read_file(entry.path()));
    }
    FAIL("no " << name);
    return {};
  }
};

}  // namespace

TEST_CASE("tables of an iteration have the launches of its tasks and the enclosing calls") {
  TwoIterations run;
  CHECK(run.run({"import", "-q"}).exit_code == 0);
  CHECK(run.rows("SELECT number, (start_ns - 1700000000000000000) / 1000, (end_ns -"
                 " 1700000000000000000) / 1000 FROM iteration ORDER BY id") ==
        Lines{"1|100|200", "2|200|300"});
  for (const std::string iteration : {"1", "2"}) {
    INFO(iteration);
    const fs::path out = run.exported("summary", iteration);
    CHECK(run.read_table(out, "op_summary").column_cells("Op Name") ==
          (iteration == "1" ? Lines{"a1", "a2"} : Lines{"b1", "b2"}));
    // Each launch consists of calls on three levels; the call without a launch is on the first
    // level.
    const CsvTable calls = run.read_table(out, "api_statistic");
    CHECK(calls.cells({"Level", "Count"}) == (iteration == "1"
                                                  ? Lines{"runtime|2", "acl|3", "node|2"}
                                                  : Lines{"runtime|2", "acl|2", "node|2"}));
    CHECK(run.read_table(out, "msprof_tx").column_cells("message") == Lines{"step " + iteration});
  }
}

TEST_CASE("the timeline of an iteration has its launches, with an arrow to each task") {
  TwoIterations run;
  for (const std::string iteration : {"1", "2"}) {
    INFO(iteration);
    const fs::path out = run.exported("timeline", iteration);
    fs::path file;
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("msprof_") && !name.starts_with("msprof_tx_")) file = entry.path();
    }
    const TimelineFile timeline(file);
    const Lines slices = timeline.slices("Ascend Hardware");
    for (const std::string op : {"a1", "a2", "b1", "b2"}) {
      const bool is_there = std::any_of(slices.begin(), slices.end(), [&](const std::string& line) {
        return line.find("|" + op + "|") != std::string::npos;
      });
      CHECK(is_there == op.starts_with(iteration == "1" ? "a" : "b"));
    }
    std::size_t arrows = 0;
    for (const std::string& arrow : timeline.arrows()) {
      CHECK(arrow.find("nowhere") == std::string::npos);
      arrows += arrow.starts_with("HostToDevice");
    }
    CHECK(arrows == 2);
    CHECK(timeline.slices("CANN").size() == (iteration == "1" ? 7 : 6));
  }
}

TEST_CASE("in the style of CANN 5, operator launches of an iteration are also a table") {
  TwoIterations run;
  for (const std::string iteration : {"1", "2"}) {
    INFO(iteration);
    const fs::path out = run.exported("summary", iteration, {"--style", "cann5"});
    CHECK(run.read_table(out, "ge_op_execute").column_cells("OP Name") ==
          (iteration == "1" ? Lines{"a1", "a2"} : Lines{"b1", "b2"}));
  }
}

TEST_CASE("a model loaded as a whole is launched by the call that executes it") {
  ProfCapture run;
  run.scene.call(kAcl, kAclExecute, {kThread, 90'000, 310'000});
  run.scene.call(kAcl, kAclExecute, {kThread, 400'000, 450'000});
  run.scene.device_task(kKernelAivec, device_task(1, 110'000, 120'000));
  add_iteration(run.scene, 1, 100'000, 300'000);
  run.prof.finish();
  const RunResult result = run.run(
      {"export", "summary", "api_statistic", "--model-id", "1", "--iteration-id", "1", "-q"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(parse_csv(read_file(products_named(run.prof.products(), "api_statistic_0_1_1").at(0)))
            .cells({"API Name", "Count"}) == Lines{"aclmdlExecute|1"});
}
