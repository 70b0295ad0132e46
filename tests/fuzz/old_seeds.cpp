#include "old_seeds.hpp"

#include "old/old_records.hpp"

namespace msprof::fuzz {

using namespace test;

namespace {

std::string run(std::uint16_t task, std::uint64_t tick, unsigned& number) {
  std::string bytes = hwts_record(0, number++, task, tick, 3);
  return bytes + hwts_record(1, number++, task, tick + 100, 3);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> old_files(bool is_job) {
  unsigned number = 0;
  std::string hwts;
  for (const unsigned task : {5U, 6U, 30'000U, 5U, 6U})
    hwts += run(static_cast<std::uint16_t>(task), kOldTicks + 1000 * (number + 1), number);
  std::string counters;
  for (const unsigned task : {5U, 6U, 5U})
    counters += aicore_record(0, static_cast<std::uint16_t>(task), 3, 1000, 7);
  if (is_job) {
    std::string nodes = "[5] Node:a/GetNext-op3, Run start:10 77, Run end:30 99";
    nodes += '\0';
    nodes +=
        "Thread[ 2] process device[0]:aicpu[ 1] task end, tickDrvTopHalf=1,"
        "tickDrvBottomHalf=2, tickBeforeRun=3,tickAfterRun=4, dispatchTime=1 us, totalTime=2 us.";
    nodes += '\0';
    std::string queue = "Node:GetNext, Run start:1, Run end:2, queue size:3";
    queue += '\0';
    std::string actions = "[7] Enqueue data to dp, source:x, index:1, size:2";
    actions += '\0';
    return {
        {"data/hwts.log.data.45.dev.profiler_default_tag.0.slice_0", hwts},
        {"data/aicore.data.43.dev.profiler_default_tag.0.slice_0", counters},
        {"training_trace.46.dev.profiler_default_tag.0.slice_0",
         trace_mark(1, 1, 10) + trace_mark(3, 2, 12) + trace_mark(4, 2, 14) + trace_mark(2, 1, 20) +
             trace_mark(255, 1, 30)},
        {"data/Framework.host.vm.task_desc_info.0.slice_0", "Default/Conv-op1 2 30000 15\n"},
        {"data/Framework.host.vm.graph_desc_info.0.slice_0",
         "op_name:Default/Conv-op1 op_type:Conv input_id:0 input_format:NCHW input_data_type:40 "
         "input_shape:\"1,2\"\n"},
        {"data/Framework.host.task_desc_info.0.slice_0",
         "{\"op_name\": \"a\", \"op_type\": \"b\", \"task_id\": 5, \"stream_id\": 3, \"input\": "
         "[{\"format\": \"ND\", \"data_type\": \"DT_FLOAT\", \"shape\": [1]}]},\n"},
        {"data/Framework.host.vm.point.0.slice_0", "3 a/AllReduce-op1\n"},
        {"data/DATA_PREPROCESS.dev.AICPU.0.slice_0", nodes},
        {"data/DATA_PREPROCESS.dev.AICPUMI.0.slice_0", queue},
        {"data/DATA_PREPROCESS.dev.TDT.0.slice_0", actions},
        {"data/runtime.host.runtime.0.slice_0",
         Bytes().put(std::uint16_t{0}).put(std::uint16_t{96}).fill(96).bytes()}};
  }
  const auto tagged = [](std::uint16_t tag, std::size_t size) {
    return Bytes().put(std::uint16_t{0x5A5A}).put(tag).fill(size).bytes();
  };
  const std::string data = "device_0/data/";
  return {{data + "hwts.data.0.slice_0", hwts},
          {data + "aicore.data.0.slice_0", counters},
          {data + "ts_track.data.0.slice_0",
           step_mark(kOldTicks + 1000, 0) + step_mark(kOldTicks + 90'000, 1)},
          {data + "Framework.task_desc_info.0.slice_0",
           task_desc("a", "A", 0, 3, 5) + task_desc("b", "B", 1, 3, 6)},
          {data + "Framework.tensor_data_info.0.slice_0", tagged(24, 256)},
          {data + "Framework.step_info.0.slice_0", tagged(25, 64)},
          {data + "Framework.id_map_info.0.slice_0", tagged(26, 32)},
          {data + "Framework.model_load_info_1.0.slice_0", tagged(20, 256)},
          {data + "Framework.fusion_op_info_1.0.slice_0", tagged(21, 256)},
          {data + "Framework.model_time_info_1_0.0.slice_0", tagged(22, 256)},
          {data + "Framework.dynamic_op_execute.0.slice_0", tagged(27, 64)},
          {data + "Framework.hash_dic.0.slice_0", "12:a:b\n"},
          {data + "AclModule.acl_model.0.slice_0", acl_call("aclmdlExecute", 1, 2)},
          {data + "runtime.api.0.slice_0", tagged(40, 256)},
          {data + "runtime.task_track.0.slice_0", tagged(41, 64)},
          {data + "DATA_PREPROCESS.AICPU.0.slice_0", tagged(60, 128)},
          {data + "HCCL.hcom_allReduce_1_1_1.0.slice_0", tagged(80, 104)},
          {"host/data/Msprof.msproftx.slice_0", tagged(120, 256)}};
}

std::vector<std::string> old_seeds() {
  std::vector<std::string> seeds;
  for (const bool is_job : {false, true}) {
    std::string whole(1, is_job ? '\1' : '\0');
    const auto files = old_files(is_job);
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::string piece(1, static_cast<char>(i));
      piece += static_cast<char>(files[i].second.size() & 0xff);
      piece += static_cast<char>(files[i].second.size() >> 8);
      piece += files[i].second;
      whole += piece;
      seeds.push_back(std::string(1, is_job ? '\1' : '\0') + piece);
    }
    seeds.push_back(whole);
  }
  return seeds;
}

}  // namespace msprof::fuzz
