// JOB folders of 2019 to 2021 with a few records: the generations of their text files, steps,
// nodes.
#include <catch2/catch.hpp>

#include "analyze/capture_info.hpp"
#include "old/old_capture.hpp"
#include "store/trace_db.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Cells = std::vector<std::string>;

struct Job {
  TempFolder temp;
  fs::path folder = temp / "JOBABC";
  unsigned records = 0;
  std::string hwts;

  Job() { write_old_info(folder, false); }
  void file(const std::string& name, const std::string& bytes) {
    write_file(folder / "data" / name, bytes);
  }
  void run(std::uint16_t task, std::uint64_t tick, std::uint32_t stream) {
    hwts += hwts_record(0, records++, task, tick, stream);
    hwts += hwts_record(1, records++, task, tick + 100, stream);
  }
  OldCapture import() {
    file("hwts.log.data.45.dev.profiler_default_tag.0.slice_0", hwts);
    return OldCapture(folder);
  }
};

}  // namespace

TEST_CASE("A large task id identifies an operator without the stream, a small one with it") {
  Job job;
  job.run(30'000, kOldTicks + 100, 515);
  job.run(7, kOldTicks + 300, 4);
  job.run(7, kOldTicks + 500, 5);
  job.file("Framework.host.vm.task_desc_info.0.slice_0",
           "Default/Conv2D-op1 2 30000 15\nGradients/a/Cast-op2 1 7 4\n");
  job.file("Framework.host.vm.graph_desc_info.0.slice_0",
           "op_name:Default/Conv2D-op1 op_type:Conv2D input_id:0 input_format:NC1HWC0 "
           "input_data_type:40 input_shape:\"1,2\" output_id:0 output_format:DefaultFormat "
           "output_data_type:39 output_shape:\"3\"\n");
  const OldCapture capture = job.import();
  CHECK(capture.damage().empty());
  CHECK(capture.table("runs").cells() ==
        Cells{"Default/Conv2D-op1|515|30000|1000100|100", "Gradients/a/Cast-op2|4|7|1000300|100"});
  CHECK(capture.table("framework").cells() ==
        Cells{"30000|15|2|Default/Conv2D-op1|Conv2D-op1|Conv2D|Default|input_0 NC1HWC0 "
              "NUMBER_TYPE_FLOAT32 [1,2]; output_0 DefaultFormat NUMBER_TYPE_FLOAT16 [3]",
              "7|4|1|Gradients/a/Cast-op2||||"});
  const CsvTable counts = capture.table("counts");
  CHECK(counts.cells() == Cells{"hwts_records|6", "hwts_other|0", "tasks_paired|3",
                                "starts_without_end|0", "ends_without_start|0",
                                "tasks_without_operator|1"});
}

TEST_CASE("The graph engine's lines start with a model, and later versions add fields at the end") {
  for (const std::string line : {"m a/Conv 8 12 3\n", "m a/Conv 8 12 3 1 static 0 0\n"}) {
    Job job;
    job.run(12, kOldTicks + 100, 3);
    // A line continues in the next slice, and slice 10 follows slice 9.
    for (const char digit : std::string("012345678"))
      job.file(std::string("Framework.host.task_desc_info.0.slice_") + digit, "");
    job.file("Framework.host.task_desc_info.0.slice_9", line.substr(0, 7));
    job.file("Framework.host.task_desc_info.0.slice_10", line.substr(7));
    job.file("Framework.host.graph_desc_info.0.slice_0",
             "model_name:m op_name:a/Conv op_type:Conv2D input_id:0 input_format:3 "
             "input_data_type:0 input_shape:\"1,2\"\n");
    const OldCapture capture = job.import();
    CHECK(capture.damage().empty());
    CHECK(capture.table("framework").cells({"task_id", "op_type", "tensors"}) ==
          Cells{"12|Conv2D|input_0 NC1HWC0 DT_FLOAT [1,2]"});
    CHECK(capture.table("runs").column_cells("full_op_name") == Cells{"a/Conv"});
  }
}

TEST_CASE("Operators as JSON objects are read across slices") {
  Job job;
  job.run(12, kOldTicks + 100, 3);
  const std::string text = R"({
  "block_dims": 8, "input": [{"data_type": "DT_FLOAT", "format": "ND", "idx": 0, "shape": [1, 2]}],
  "model_id": 1, "model_name": "m{", "op_name": "a/Conv", "op_type": "Conv2D",
  "stream_id": 3, "task_id": 12, "task_type": "AI_CORE"
},
)";
  job.file("Framework.host.task_desc_info.0.slice_0", text.substr(0, 90));
  job.file("Framework.host.task_desc_info.0.slice_1", text.substr(90));
  const OldCapture capture = job.import();
  CHECK(capture.damage().empty());
  CHECK(capture.table("framework").cells({"task_id", "block_dim", "op_type", "tensors"}) ==
        Cells{"12|8|Conv2D|input_0 ND DT_FLOAT [1,2]"});
}

TEST_CASE("A step ends with 255, later with 65535, and starts at the end of the previous one") {
  for (const std::uint64_t end : {255U, 65'535U}) {
    Job job;
    std::string trace;
    for (const std::uint64_t at : {1000U, 2000U}) {
      trace += trace_mark(1U << 20, 1, at + 5) + trace_mark(1, 1, at + 10) +
               trace_mark(3, 9, at + 20) + trace_mark(4, 9, at + 40) +
               trace_mark(5, 8, at + 50) +  // no end on this stream
               trace_mark(2, 1, at + 90) + trace_mark(end, 1, at + 100);
    }
    job.file("training_trace.46.dev.profiler_default_tag.0.slice_0", trace.substr(0, 130));
    job.file("training_trace.46.dev.profiler_default_tag.0.slice_1", trace.substr(130));
    job.file("Framework.host.vm.point.0.slice_0", "3 a/b/AllReduce-op7\n");
    const OldCapture capture = job.import();
    CHECK(capture.table("step_trace").cells() ==
          Cells{"1|1010|1100|90|1010|1090|0|80|10", "2|1100|2100|1000|2010|2090|910|80|10"});
    CHECK(capture.table("reduce").cells() ==
          Cells{"1|9|0|AllReduce|1020|1040|20", "2|9|0|AllReduce|2020|2040|20"});
  }
}

TEST_CASE("A step without a forward mark has no row, but is numbered") {
  Job job;
  job.file("training_trace.46.dev.profiler_default_tag.0.slice_0",
           trace_mark(1, 1, 10) + trace_mark(2, 1, 20) + trace_mark(255, 1, 30) +
               trace_mark(2, 1, 40) + trace_mark(255, 1, 50) + trace_mark(1, 1, 60) +
               trace_mark(2, 1, 70) + trace_mark(255, 1, 80));
  CHECK(job.import().table("step_trace").cells({"step_num", "start_point", "total"}) ==
        Cells{"1|10|20", "3|50|30"});
}

TEST_CASE("Nodes of AI CPUs have the times of the next driver record") {
  Job job;
  const std::string entries[] = {
      "[5] Node:Default/GetNext-op3, Run tart:10 77, Run end:30 99\n",
      "Thread[ 2] process device[0]:aicpu[ 1] task end, tickDrvTopHalf=1,tickDrvBottomHalf=2, "
      "tickBeforeRun=3,tickAfterRun=4, dispatchTime=100 us, totalTime=1567 us.",
      "Thread[ 3] process device[0]:aicpu[ 0] task end, tickDrvTopHalf=5,tickDrvBottomHalf=6, "
      "tickBeforeRun=7,tickAfterRun=8, dispatchTime=9 us, totalTime=10 us.",
      "garbage"};
  std::string bytes;
  for (const std::string& entry : entries) bytes += entry + '\0';
  job.file("DATA_PREPROCESS.dev.AICPU.0.slice_0", bytes);
  const OldCapture capture = job.import();
  CHECK(capture.table("aicpu").cells() == Cells{"1|GetNext|1.567|0.100|10|30"});
  CHECK(capture.table("aicpu_threads").cells() ==
        Cells{"2|0|1|1|2|3|4|100|1567", "3|0|0|5|6|7|8|9|10"});
  CHECK(capture.damage().find("damaged entry") != std::string::npos);
}

TEST_CASE("A capture without any info file is read, and missing files are reported") {
  const TempFolder temp;
  write_file(temp / "JOBA/training_trace.46.dev.profiler_default_tag.0.slice_0",
             trace_mark(1, 1, 10) + trace_mark(2, 1, 20) + trace_mark(255, 1, 30));
  const OldCapture capture(temp / "JOBA");
  CHECK(capture.damage().empty());
  CHECK(!capture.report().lacking().empty());
  CHECK(capture.table("step_trace").cells() == Cells{"1|10|30|20|10|20|0|10|10"});
}

TEST_CASE("A capture without its chip recorded has none, whatever its records are") {
  for (const std::string file : {"hwts.log.data.45.dev.profiler_default_tag.0.slice_0",
                                 "ts_track.data.45.dev.profiler_default_tag.0.slice_0"}) {
    const TempFolder temp;
    write_file(temp / "JOBA" / file, hwts_record(0, 0, 1, 100, 1) + hwts_record(1, 1, 1, 200, 1));
    const OldCapture capture(temp / "JOBA");
    INFO(file << capture.report().text());
    CHECK(capture.rows("SELECT value FROM meta WHERE key = 'chip'") == Cells{""});
    CHECK(capture.rows("SELECT platform, chip_name_id FROM device") == Cells{"NULL|NULL"});
    CHECK(capture_info(TraceDb::open(capture.store())->database()).chip.empty());
  }
}
