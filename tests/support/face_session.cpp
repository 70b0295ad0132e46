#include "support/face_session.hpp"

namespace msprof::test {

std::vector<AicoreRecord> face_aicore() {
  return {
      {0, 1'000'000'000, 3000, 1500, 1200, 600, 300, 150, 90, 900, 450, 4096, 2048, 0},
      {1, 1'000'010'000, 1000, 0, 0, 800, 500, 250, 10, 400, 0, 2048, 512, 0},
      {0, 2'000'000'000, 3001, 1501, 1201, 601, 301, 151, 91, 901, 451, 4097, 2049, 1},
      {1, 2'000'010'000, 1500, 0, 0, 1000, 700, 350, 20, 600, 0, 2051, 513, 1},
  };
}

std::vector<AicpuRecord> face_aicpu() {
  return {{2, 77, 1'000'020'000, 1'000'021'234, 0}, {2, 77, 2'000'020'000, 2'000'022'000, 1}};
}

std::vector<AclRecord> face_calls() {
  return {
      {1, 0, 900'000'000, 950'000'000},        {512, 0, 500'000'000, 500'001'500},
      {261, 0, 960'000'000, 960'000'999},      {3, 9001, 1'000'000'000, 1'000'025'000},
      {3, 9001, 2'000'000'000, 2'000'026'001}, {5, 0, 2'100'000'000, 2'100'003'000},
      {999, 0, 2'200'000'000, 2'200'000'001},
  };
}

std::vector<LayerLine> face_layers() {
  return {{0, 0, "Convolution", "AA_CORE", "conv1", "conv1+bn1+relu1"},
          {1, 0, "Pooling", "AA_CORE", "pool1", "pool1"},
          {2, 0, "DetectionOutput", "AA_CPU", "detect", "detect"},
          {3, 0, "Softmax", "AA_CORE", "prob", "prob"}};
}

DataName face_name(const std::string& type) {
  return {.type = type, .model = "face", .model_id = 31, .net = 0, .batch = 2, .pics = 2};
}

Done face_aicore_done() {
  return {.cache_hit = 9000, .cache_mis = 1000};
}

Done face_acl_done() {
  return {.pid = 4711, .tid = 4712};
}

void add_face(JobBuilder& job) {
  job.info_json("500").net_info("face", 31, {.batch_num = "2", .layer_num = 4});
  job.layer_info("face", 31, face_layers());
  job.data(face_name("aicore"), aicore_file(face_aicore()), face_aicore_done());
  job.data(face_name("aicpu"), aicpu_file(face_aicpu()));
  job.data("acl_api.0.face.31", acl_api_file(face_calls()), face_acl_done());
}

}  // namespace msprof::test
