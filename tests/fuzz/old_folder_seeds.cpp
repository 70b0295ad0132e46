// Seeds of fuzz_old_folder: small captures of every generation. Layouts: cann5_classic.md 5 to 8.
#include <cstdint>

#include "seeds.hpp"

namespace msprof::fuzz {

namespace {

// A field of a record: offset, size in bytes, value.
struct Field {
  std::size_t at;
  std::size_t bytes;
  std::uint64_t value;
};

std::string record(std::size_t bytes, std::initializer_list<Field> fields) {
  std::string out(bytes, '\0');
  for (const Field& field : fields) {
    for (std::size_t i = 0; i < field.bytes; ++i)
      out[field.at + i] = static_cast<char>(field.value >> 8 * i & 0xff);
  }
  return out;
}

std::string with_text(std::string bytes, std::size_t at, std::string_view text) {
  return bytes.replace(at, text.size(), text);
}

std::string tagged(std::size_t bytes, std::uint64_t tag, std::initializer_list<Field> fields) {
  return with_text(with_text(record(bytes, fields), 0, "ZZ"), 2, record(2, {{0, 2, tag}}));
}

// Joins texts, each followed by a NUL.
std::string entries(std::initializer_list<std::string_view> texts) {
  std::string out;
  for (const std::string_view text : texts) (out += text) += '\0';
  return out;
}

constexpr std::uint64_t kTick = 1'000'000;
constexpr std::uint64_t kMoment = 50'000'000'000;

std::string hwts(std::uint64_t task, std::uint64_t stream) {
  std::string out;
  for (std::uint64_t i = 0; i < 4; ++i) {
    out += record(64, {{0, 1, i % 2 | i << 4},
                       {2, 2, 0x6BD3},
                       {6, 2, task},
                       {8, 8, kTick + 1000 * i},
                       {16, 4, stream}});
  }
  return out;
}

std::string old_aicore(std::uint64_t task, std::uint64_t stream) {
  return record(128, {{2, 2, 0x6BD3}, {6, 2, task}, {16, 8, 900}, {32, 8, 90}, {96, 4, stream}});
}

std::string steps() {
  std::string out;
  constexpr std::uint64_t kTags[] = {0, 2, 10'000, 10'001, 3, 4, 1};
  for (std::size_t i = 0; i < std::size(kTags); ++i) {
    out += record(40, {{1, 1, 10},
                       {2, 2, 40},
                       {8, 8, kTick + 700 * i},
                       {16, 8, 1},
                       {24, 8, 1},
                       {32, 2, 3},
                       {36, 2, kTags[i]}});
  }
  return out;
}

SeedFile info(const std::string& folder, int platform) {
  return {false, folder + "info.json.0",
          R"({"platform_version": ")" + std::to_string(platform) +
              R"(", "pid": "7", "DeviceInfo": [{"hwts_frequency": "100", "aic_frequency": )"
              R"("1000", "ai_core_num": 32}]})"};
}

std::vector<SeedFile> clocks(const std::string& folder) {
  return {{false, folder + "host_start.log.0",
           "[Device0]\nclock_realtime: 1600000000000000000\nclock_monotonic_raw: 50000000000\n"},
          {false, folder + "dev_start.log.0",
           "clock_realtime: 1600000000000000000\nclock_monotonic_raw: 50000000000\n"
           "cntvct: 1000000\n"},
          {false, folder + "sample.json",
           R"({"ai_core_profiling_mode": "task-based", "ai_core_profiling_events": )"
           R"("0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55", "l2CacheTaskProfilingEvents": )"
           R"("0x59,0x5b,0x5c"})"}};
}

// Operators of a task with and without iteration, and their tensors.
std::vector<SeedFile> framework(const std::string& data) {
  std::string tasks, tensors;
  for (std::uint64_t iteration = 0; iteration < 2; ++iteration) {
    const std::uint64_t task = 5 + iteration;
    std::string one = tagged(256, 23,
                             {{8, 1, 1},
                              {136, 1, 0},
                              {144, 8, 77},
                              {200, 8, iteration},
                              {208, 8, kMoment},
                              {220, 4, 8},
                              {224, 4, 1},
                              {228, 4, 3},
                              {232, 2, task}});
    tasks += with_text(one, 16, "net/conv");
    tensors += tagged(256, 24,
                      {{4, 4, 1},
                       {16, 4, 3},
                       {20, 2, task},
                       {24, 4, 2},
                       {40, 4, 8},
                       {72, 4, 1},
                       {84, 4, 16},
                       {248, 8, kMoment}});
  }
  const std::string model = with_text(
      tagged(256, 20, {{4, 4, 1}, {8, 1, 1}, {136, 8, kMoment}, {144, 8, kMoment + 9}}), 16, "net");
  const std::string times = with_text(tagged(256, 22,
                                             {{4, 4, 1},
                                              {8, 1, 1},
                                              {136, 4, 1},
                                              {144, 8, kMoment},
                                              {152, 8, kMoment + 1},
                                              {160, 8, kMoment + 2},
                                              {168, 8, kMoment + 3}}),
                                      16, "net");
  return {{true, data + "Framework.task_desc_info.0.slice_0", tasks},
          {true, data + "Framework.tensor_data_info.0.slice_0", tensors},
          {true, data + "Framework.model_load_info_1.0.slice_0", model},
          {true, data + "Framework.model_time_info_1_0.0.slice_0", times},
          {true, data + "Framework.fusion_op_info_1.0.slice_0",
           tagged(256, 21, {{4, 4, 1}, {16, 8, 77}, {136, 8, 10}, {176, 8, 2}, {184, 8, 77}})},
          {true, data + "Framework.step_info.0.slice_0",
           tagged(64, 25, {{4, 4, 1}, {16, 8, kMoment}, {24, 8, 1}}) +
               tagged(64, 25, {{4, 4, 1}, {16, 8, kMoment + 50}, {24, 8, 1}, {36, 1, 1}})},
          {true, data + "Framework.id_map_info.0.slice_0", tagged(32, 26, {{8, 4, 1}})},
          {true, data + "Framework.dynamic_op_execute.0.slice_0",
           tagged(64, 27, {{8, 8, 77}, {16, 8, 78}, {24, 8, kMoment}, {32, 8, kMoment + 5}})},
          {true, data + "Framework.hash_dic.0.slice_0", "77:Conv:2D\n78:Tiling\n"}};
}

std::vector<SeedFile> calls(const std::string& data) {
  const std::string hccl =
      with_text(tagged(104, 80, {{4, 4, 1}, {12, 4, 5}, {40, 4, 9}, {44, 8, 1}}), 24, "Reduce");
  return {
      {true, data + "AclModule.acl_model.0.slice_0",
       with_text(tagged(128, 0, {{4, 4, 2}, {8, 8, kMoment}, {16, 8, kMoment + 50}}), 32,
                 "aclmdlExecute")},
      {true, data + "runtime.api.0.slice_0",
       with_text(tagged(256, 40, {{8, 8, kMoment}, {16, 8, kMoment + 9}, {104, 4, 1}}), 32,
                 "KernelLaunch")},
      {true, data + "runtime.task_track.0.slice_0",
       with_text(tagged(64, 41, {{8, 8, kMoment}, {48, 2, 5}, {52, 2, 3}}), 16, "KERNEL_AICORE")},
      {true, data + "DATA_PREPROCESS.AICPU.0.slice_0",
       tagged(128, 60,
              {{4, 2, 3},
               {6, 2, 7},
               {8, 8, 50'000'000},
               {16, 8, kTick + 20},
               {48, 8, 50'000'009},
               {56, 8, kTick + 60}})},
      {true, data + "DATA_PREPROCESS.DP.0.slice_0",
       with_text(with_text(tagged(128, 100, {{8, 8, 50'000'000}, {104, 8, 3}}), 16, "dequeue"), 32,
                 "iterator")},
      {true, data + "HCCL.hcom_allReduce_1_1_1.0.slice_0", hccl},
      {true, "host/data/Msprof.msproftx.slice_0",
       with_text(tagged(256, 120, {{32, 8, kMoment}, {40, 8, kMoment + 40}}), 52, "mark")}};
}

void add(std::vector<SeedFile>& to, std::vector<SeedFile> files) {
  to.insert(to.end(), files.begin(), files.end());
}

std::string prof_910() {
  const std::string data = "device_0/data/";
  std::vector<SeedFile> files = {info("device_0/", 1),
                                 {true, data + "hwts.data.0.slice_0", hwts(5, 3).substr(0, 100)},
                                 {true, data + "hwts.data.0.slice_1", hwts(5, 3).substr(100)},
                                 {true, data + "hwts.data.0.slice_1.done", "filesize:156\n"},
                                 {true, data + "ts_track.data.0.slice_0", steps()},
                                 {true, data + "aicore.data.0.slice_0", old_aicore(5, 3)},
                                 {true, data + "l2_cache.data.0.slice_0",
                                  record(72, {{2, 2, 3}, {4, 2, 5}, {8, 8, 10}, {16, 8, 5}})}};
  add(files, clocks("device_0/"));
  add(files, framework(data));
  add(files, calls(data));
  return '\0' + pack(files);
}

std::string prof_310() {
  const std::string data = "device_0/data/";
  std::string states;
  for (std::uint64_t state = 1; state <= 4; ++state) {
    states += record(32, {{1, 1, 3},
                          {2, 2, 32},
                          {10, 2, state},
                          {12, 2, 3},
                          {14, 2, 5},
                          {16, 8, kTick + 100 * state}});
  }
  const std::string counters = record(112, {{1, 1, 4},
                                            {2, 2, 112},
                                            {10, 2, 3},
                                            {12, 2, 5},
                                            {24, 8, 10},
                                            {88, 8, 900},
                                            {96, 8, kTick + 300},
                                            {104, 2, 2}});
  std::vector<SeedFile> files = {info("device_0/", 0),
                                 {true, data + "ts_track.data.0.slice_0", states + steps()},
                                 {true, data + "aicore.data.0.slice_0", counters}};
  add(files, clocks("device_0/"));
  add(files, framework(data));
  return '\0' + pack(files);
}

std::string trace(std::uint64_t end_tag) {
  std::string out;
  const std::uint64_t tags[] = {70'000, 1, 3, 4, 2, end_tag, 1, 5, 2, end_tag};
  for (std::size_t i = 0; i < std::size(tags); ++i)
    out += record(20, {{0, 8, tags[i]}, {10, 2, 9}, {12, 8, kTick + 100 * i}});
  return out;
}

// MindSpore's format, with names in the styles of training and inference.
std::string job_of_mind_spore() {
  const std::string tag = ".dev.profiler_default_tag.0";
  std::vector<SeedFile> files = {
      info("", 1),
      {true, "data/hwts.log.data.45" + tag + ".slice_0", hwts(30'000, 515)},
      {true, "data/aicore.data.43.0.0", old_aicore(30'000, 515)},
      {true, "training_trace.46" + tag + ".slice_0", trace(255).substr(0, 130)},
      {true, "training_trace.46" + tag + ".slice_1", trace(255).substr(130)},
      {true, "data/Framework.host.vm.task_desc_info.0.slice_0",
       "Default/Conv2D-op1 2 30000 15\nGradients/a/Cast-op2 1 7 4\n"},
      {true, "data/Framework.host.vm.graph_desc_info.0.slice_0",
       "op_name:Default/Conv2D-op1 op_type:Conv2D input_id:0 input_format:NC1HWC0 "
       "input_data_type:40 input_shape:\"1,2\" output_id:0 output_format:DefaultFormat "
       "output_data_type:39 output_shape:\"3\"\n"},
      {true, "data/Framework.host.vm.point.0.slice_0", "1 Default/a\n3 b/AllReduce-op7\n"},
      {true, "data/DATA_PREPROCESS.dev.AICPU.0.slice_0",
       entries({"[5] Node:a/GetNext-op3, Run start:10 77, compute start:11, memcpy start:12, "
                "memcpy end:13, Run end:30 99\n",
                "Thread[ 2] process device[0]:aicpu[ 1] task end, tickDrvTopHalf=1,"
                "tickDrvBottomHalf=2, tickBeforeRun=3,tickAfterRun=4, dispatchTime=100 us, "
                "totalTime=1567 us."})},
      {true, "data/DATA_PREPROCESS.dev.AICPUMI.0.slice_0",
       entries({"Node:GetNext, Run start:5, Run end:9, queue size:3"})},
      {true, "data/DATA_PREPROCESS.dev.TDT.0.slice_0",
       entries({"[5] Last queue dequeue, source:it, index:1, size:4"})},
      {true, "data/runtime.host.runtime.0.slice_0",
       with_text(record(96, {{2, 2, 96}, {8, 8, kMoment}, {20, 2, 15}, {22, 2, 9}}), 32, "Conv")}};
  add(files, clocks(""));
  return '\1' + pack(files);
}

std::string job_of_graph_engine(bool is_json) {
  const std::string object =
      R"({"block_dims": 8, "input": [{"data_type": "DT_FLOAT", "format": "ND", "idx": 0, )"
      R"("shape": [1, 2]}], "model_id": 1, "model_name": "m{", "op_name": "a/Conv", )"
      R"("op_type": "Conv2D", "stream_id": 3, "task_id": 12, "task_type": "AI_CORE"},)";
  return '\1' +
         pack({{true, "hwts.log.data.45.dev.profiler_default_tag.0.slice_0", hwts(12, 3)},
               {true, "training_trace.dev.profiler_default_tag.0.slice_0", trace(65'535)},
               {true, "container/0/data/Framework.host.task_desc_info.0.JOBA.slice_0",
                is_json ? object : "m a/Conv 8 12 3 1 static 0 0\n"},
               {true, "Framework.host.graph_desc_info.0.slice_0",
                "model_name:m op_name:a/Conv op_type:Conv2D input_id:0 input_format:3 "
                "input_data_type:0 input_shape:\"1,2\" model_id:1 task_id:12 stream_id:3\n"}});
}

}  // namespace

std::vector<std::string> old_folders() {
  return {prof_910(), prof_310(), job_of_mind_spore(), job_of_graph_engine(false),
          job_of_graph_engine(true)};
}

}  // namespace msprof::fuzz
