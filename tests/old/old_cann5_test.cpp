// CANN 5 captures of a few records: which records are matched, and which are omitted and counted.
#include <catch2/catch.hpp>

#include "old/old_capture.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Two executions of a model with tasks 5 and 6 on stream 3, 10 us each.
struct Scene {
  TempFolder temp;
  fs::path folder = temp / "PROF_1";
  std::string hwts, steps, counters, tasks;
  unsigned records = 0;

  void run(std::uint16_t task, std::uint64_t tick, std::uint32_t stream = 3) {
    hwts += hwts_record(0, records++, task, tick, stream);
    hwts += hwts_record(1, records++, task, tick + 1000, stream);
    counters += aicore_record(static_cast<unsigned>(counters.size() / 128), task, stream, 10'000,
                              tick % 1000 + 100);
  }
  void step(std::uint64_t begin, std::uint64_t end) {
    steps += step_mark(begin, 0) + step_mark(end, 1);
  }
  void two_steps() {
    for (const std::uint64_t begin : {kOldTicks + 1000, kOldTicks + 21'000}) {
      step(begin, begin + 10'000);
      run(5, begin + 2000);
      run(6, begin + 5000);
    }
    tasks = task_desc("net/conv", "Conv2D", 0, 3, 5) + task_desc("net/relu", "Relu", 0, 3, 6);
  }
  OldCapture import() {
    const fs::path data = folder / "device_0/data";
    write_old_info(folder / "device_0");
    write_file(data / "hwts.data.0.slice_0", hwts);
    write_file(data / "ts_track.data.0.slice_0", steps);
    if (!counters.empty()) write_file(data / "aicore.data.0.slice_0", counters);
    if (!tasks.empty()) write_file(data / "Framework.task_desc_info.0.slice_0", tasks);
    write_file(data / "AclModule.acl_model.0.slice_0",
               acl_call("aclmdlExecute", old_ns(kOldTicks), old_ns(kOldTicks) + 7000));
    return OldCapture(folder);
  }
};

using Cells = std::vector<std::string>;

}  // namespace

TEST_CASE("A task has the operator of its stream and number, and the iteration in which it ends") {
  Scene scene;
  scene.two_steps();
  const OldCapture capture = scene.import();
  CHECK(capture.damage().empty());
  const CsvTable table = capture.table("op_summary");
  CHECK(table.cells({"Op Name", "OP Type", "Infer ID", "Task Start Time", "Task Duration(us)"}) ==
        Cells{"net/conv|Conv2D|1|50000030000|10", "net/relu|Relu|1|50000060000|10",
              "net/conv|Conv2D|2|50000230000|10", "net/relu|Relu|2|50000260000|10"});
  CHECK(capture.table("op_summary", 1, 2).column_cells("Infer ID") == Cells{"2", "2"});
  CHECK(capture.table("op_statistic", 1, 1).cells({"OP Type", "Count", "Total Time(us)"}) ==
        Cells{"Conv2D|1|10", "Relu|1|10"});
  CHECK(capture.table("acl").cells() == Cells{"aclmdlExecute|ACL_MODEL|50000000000|7|77|78"});
  CHECK(capture.table("step_trace").cells({"Iteration ID", "Iteration End", "FP Start"}) ==
        Cells{"1|1011000|N/A", "2|1031000|N/A"});
}

TEST_CASE("Tasks between two iterations belong to the later one") {
  Scene scene;
  scene.two_steps();
  scene.run(5, kOldTicks + 15'000);
  const OldCapture capture = scene.import();
  CHECK(capture.table("op_summary", 1, 2).cells({"Op Name", "Task Start Time"}) ==
        Cells{"net/conv|50000150000", "net/conv|50000230000", "net/relu|50000260000"});
}

TEST_CASE(
    "With dynamic shapes each iteration has its own operators, across a wraparound of the ids") {
  Scene scene;
  scene.step(kOldTicks + 1000, kOldTicks + 9000);
  scene.step(kOldTicks + 21'000, kOldTicks + 29'000);
  scene.run(65'534, kOldTicks + 2000);
  scene.run(65'535, kOldTicks + 4000);
  scene.run(0, kOldTicks + 6000);
  scene.run(1, kOldTicks + 22'000);
  scene.tasks = task_desc("a", "A", 1, 3, 65'534, 4) + task_desc("b", "B", 1, 3, 65'535, 4) +
                task_desc("c", "C", 1, 3, 0, 5) + task_desc("d", "D", 2, 3, 1, 5) +
                task_desc("not in this one", "E", 2, 3, 0, 5);
  const OldCapture capture = scene.import();
  CHECK(capture.table("op_summary").cells({"Task ID", "Op Name"}) ==
        Cells{"65534|a", "65535|b", "0|c", "1|d"});
}

TEST_CASE("A start without an end is dropped, and a later start is used") {
  Scene scene;
  scene.two_steps();
  scene.hwts += hwts_record(0, scene.records++, 9, kOldTicks + 40'000, 3);
  scene.hwts += hwts_record(0, scene.records++, 9, kOldTicks + 40'500, 3);
  scene.hwts += hwts_record(1, scene.records++, 9, kOldTicks + 41'000, 3);
  scene.hwts += hwts_record(0, scene.records++, 5, kOldTicks + 42'000, 3);
  scene.hwts += hwts_record(1, scene.records++, 7, kOldTicks + 43'000, 3);
  const OldCapture capture = scene.import();
  std::vector<std::string> reasons;
  for (const Finding& finding : capture.report().findings()) {
    if (finding.kind == "tasks") reasons.push_back(finding.reason);
  }
  CHECK(reasons == Cells{"start without end", "end without start", "repeated start",
                         "tasks without an operator"});
  const auto times = capture.table("task_time").cells({"kernel_name", "task_id", "task_time(us)"});
  REQUIRE(times.size() == 5);
  CHECK(times.back() == "N/A|9|\"5\"");
}

TEST_CASE("The k-th counters of a task belong to its k-th run") {
  Scene scene;
  scene.two_steps();
  const OldCapture capture = scene.import();
  const CsvTable table = capture.table("op_summary");
  // 10000 cycles of 8 blocks on 32 cores at 1 GHz.
  CHECK(table.cells({"aicore_time(us)", "total_cycles"}) == Cells(4, "1.25|10000"));
  CHECK(capture.rows("SELECT c2 FROM task_pmu ORDER BY task_id") ==
        Cells{"100", "100", "100", "100"});

  // If the collector deleted the start of the file as too old, records are matched from the end.
  scene.counters.erase(0, 128);
  const fs::path data = scene.folder / "device_0/data";
  fs::remove(data / "aicore.data.0.slice_0");
  const std::string rest = scene.counters;
  scene.counters.clear();
  write_file(data / "aicore.data.0.slice_3", rest);
  const OldCapture aged = scene.import();
  CHECK(aged.table("op_summary").column_cells("total_cycles") ==
        Cells{"N/A", "10000", "10000", "10000"});
}

TEST_CASE("Without descriptions there are only the tasks of the cores") {
  Scene scene;
  scene.two_steps();
  scene.tasks.clear();
  const OldCapture capture = scene.import();
  const CsvTable table = capture.table("op_summary");
  CHECK(std::count(table.header.begin(), table.header.end(), "Op Name") == 0);
  CHECK(table.cells({"Task ID", "Task Type", "Infer ID", "total_cycles"}) ==
        Cells{"5|AI_CORE|1|10000", "6|AI_CORE|1|10000", "5|AI_CORE|2|10000", "6|AI_CORE|2|10000"});
}

TEST_CASE("Without step records operators ran individually: no model and no iteration is shown") {
  Scene scene;
  scene.run(5, kOldTicks + 100);
  scene.tasks = task_desc("one", "One", 0, 3, 5);
  const OldCapture capture = scene.import();
  const CsvTable table = capture.table("op_summary");
  CHECK(table.header.front() == "Model ID");
  CHECK(table.column_cells("Op Name") == Cells{"one"});
  CHECK(capture.table("op_statistic").header.front() == "OP Type");
}

TEST_CASE("A truncated or damaged record is counted, and the others are read") {
  Scene scene;
  scene.two_steps();
  scene.hwts += hwts_record(0, scene.records, 5, kOldTicks, 3).substr(0, 30);
  scene.tasks[0] = 'x';
  const OldCapture capture = scene.import();
  CHECK(capture.table("op_summary").column_cells("Op Name") == Cells{"net/relu", "net/relu"});
  CHECK(capture.damage().find("hwts: ends in the middle of a record") != std::string::npos);
  CHECK(capture.damage().find("task_desc_info") != std::string::npos);
}

TEST_CASE("An empty file is not damage") {
  Scene scene;
  scene.two_steps();
  scene.import();
  write_file(scene.folder / "device_0/data/runtime.api.0.slice_0", "");
  CHECK(scene.import().damage().empty());
}
