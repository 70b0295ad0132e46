// Models: loading, describing, executing, batches, refusals.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>

#include "acl/device_fixture.hpp"
#include "runtime/engine/model/model.hpp"

using namespace msprof::acl::test;

namespace {

constexpr size_t kImageFloats = 2 * 4 * 4;

std::vector<float> images(int64_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> made(static_cast<size_t>(count) * kImageFloats);
  for (float& value : made) value = values(random);
  return made;
}

// Returns the engine's own result for the tiny model.
std::vector<float> engine_result(const std::vector<float>& input, int64_t batch) {
  const std::string text = tiny_model(1, 8);
  const auto model = msprof::runtime::Model::parse({text.data(), text.size()});
  msprof::runtime::Workspace workspace;
  model.prepare(workspace, batch);
  std::copy(input.begin(), input.end(), model.values(workspace, model.inputs()[0]));
  model.run(workspace, batch, nullptr);
  const float* top = model.values(workspace, model.outputs()[0]);
  return {top, top + 3 * batch};
}

uint32_t load(const std::string& text) {
  uint32_t model = 0;
  REQUIRE(aclmdlLoadFromMem(text.data(), text.size(), &model) == ACL_SUCCESS);
  return model;
}

// A data set over memory of the test.
class DataSet {
 public:
  DataSet() : set_(aclmdlCreateDataset()) {}
  template <typename T>
  explicit DataSet(std::vector<T>& values) : DataSet() {
    add(values.data(), values.size() * sizeof(T));
  }
  ~DataSet() {
    for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(set_); ++i) {
      aclDestroyDataBuffer(aclmdlGetDatasetBuffer(set_, i));
    }
    aclmdlDestroyDataset(set_);
  }
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  void add(void* memory, size_t bytes) {
    // Not REQUIRE: threads of a test use this, and only its main thread may use assertions.
    if (aclmdlAddDatasetBuffer(set_, aclCreateDataBuffer(memory, bytes)) != ACL_SUCCESS) {
      throw std::runtime_error("aclmdlAddDatasetBuffer");
    }
  }
  operator aclmdlDataset*() const { return set_; }

 private:
  aclmdlDataset* set_;
};

struct Described {
  explicit Described(uint32_t model) : desc(aclmdlCreateDesc()) {
    REQUIRE(aclmdlGetDesc(desc, model) == ACL_SUCCESS);
  }
  ~Described() { aclmdlDestroyDesc(desc); }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  aclmdlDesc* const desc;
};

}  // namespace

TEST_CASE("a model computes what the engine computes, at once and on a stream") {
  const Session session;
  const uint32_t model = load(tiny_model());
  std::vector<float> input = images(1), output(3), later(3);
  const DataSet from(input), to(output), to_later(later);
  CHECK(aclmdlExecute(model, from, to) == ACL_SUCCESS);
  const std::vector<float> expected = engine_result(input, 1);
  CHECK(output == expected);
  const OwnStream stream;
  CHECK(aclmdlExecuteAsync(model, from, to_later, stream) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(later == expected);
  std::fill(later.begin(), later.end(), 0.0F);
  CHECK(aclmdlExecuteAsync(model, from, to_later, nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(later == expected);
  CHECK(aclmdlUnload(model) == ACL_SUCCESS);
  CHECK(aclmdlUnload(model) == ACL_ERROR_INVALID_MODEL_ID);
  CHECK(aclmdlExecute(model, from, to) == ACL_ERROR_INVALID_MODEL_ID);
}

TEST_CASE("an execution on a stream is queued, and the call returns before it") {
  const Session session;
  const uint32_t model = load(tiny_model());
  std::vector<float> input = images(1), output(3, -1.0F);
  const DataSet from(input);
  const OwnStream stream;
  const OwnEvent event;
  std::vector<float> seen_before;
  auto look = [&] { seen_before = output; };
  {
    // The data set may be destroyed once the call returns; the memory must stay.
    const DataSet to(output);
    REQUIRE(aclrtStreamWaitEvent(stream, event) == ACL_SUCCESS);
    REQUIRE(on_stream(stream, look) == ACL_SUCCESS);
    REQUIRE(aclmdlExecuteAsync(model, from, to, stream) == ACL_SUCCESS);
  }
  REQUIRE(aclrtRecordEvent(event, nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(seen_before == std::vector<float>(3, -1.0F));
  CHECK(output == engine_result(input, 1));
}

TEST_CASE("eight streams and eight threads execute one model with their own data") {
  const Session session;
  const uint32_t model = load(tiny_model());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      aclrtStream stream = nullptr;
      if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtCreateStream(&stream) != ACL_SUCCESS) ++wrong;
      std::vector<float> input = images(1, t), async(3), sync(3);
      const DataSet from(input), to_async(async), to_sync(sync);
      const std::vector<float> expected = engine_result(input, 1);
      for (int i = 0; i < 50; ++i) {
        if (aclmdlExecuteAsync(model, from, to_async, stream) != ACL_SUCCESS) ++wrong;
        if (aclmdlExecute(model, from, to_sync) != ACL_SUCCESS || sync != expected) ++wrong;
        if (aclrtSynchronizeStream(stream) != ACL_SUCCESS || async != expected) ++wrong;
      }
      if (aclrtDestroyStream(stream) != ACL_SUCCESS) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("waiting for an execution obeys its configured limit") {
  const Session session;
  // This model needs some tenths of a second.
  const uint32_t model = load(
      R"({"format":"msprof-model","version":1,"name":"long","seed":3,"batch":1,"max_batch":1,
      "inputs":[{"name":"image","shape":[32,256,256]}],"layers":[
      {"name":"conv","type":"Conv2D","inputs":["image"],"out_channels":32,"kernel":5,"pad":2}]})");
  std::vector<float> input(32 * 256 * 256), output(input.size());
  const DataSet from(input), to(output);
  aclmdlExecConfigHandle* config = aclmdlCreateExecConfigHandle();
  REQUIRE(config != nullptr);
  const int32_t timeout = 1, never = -1, none = 0;
  void* memory = input.data();
  size_t size = 64;
  CHECK(aclmdlSetExecConfigOpt(config, ACL_MDL_STREAM_SYNC_TIMEOUT, &timeout, 4) == ACL_SUCCESS);
  CHECK(aclmdlSetExecConfigOpt(config, ACL_MDL_WORK_ADDR_PTR, &memory, sizeof memory) ==
        ACL_SUCCESS);
  CHECK(aclmdlSetExecConfigOpt(config, ACL_MDL_WORK_SIZET, &size, sizeof size) == ACL_SUCCESS);
  CHECK(aclmdlExecuteV2(model, from, to, nullptr, config) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  CHECK(aclmdlSetExecConfigOpt(config, ACL_MDL_STREAM_SYNC_TIMEOUT, &never, 4) == ACL_SUCCESS);
  CHECK(aclmdlExecuteV2(model, from, to, nullptr, config) == ACL_SUCCESS);
  CHECK(aclmdlExecuteV2(model, from, to, nullptr, nullptr) == ACL_SUCCESS);

  CHECK(aclmdlSetExecConfigOpt(config, ACL_MDL_STREAM_SYNC_TIMEOUT, &none, 4) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetExecConfigOpt(config, ACL_MDL_STREAM_SYNC_TIMEOUT, &size, sizeof size) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetExecConfigOpt(nullptr, ACL_MDL_WORK_SIZET, &size, sizeof size) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlDestroyExecConfigHandle(config) == ACL_SUCCESS);
  CHECK(aclmdlDestroyExecConfigHandle(nullptr) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("unloading waits for running executions") {
  const Session session;
  const uint32_t model = load(tiny_model());
  std::vector<float> input = images(1), output(3);
  const DataSet from(input), to(output);
  const OwnStream stream;
  auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  REQUIRE(on_stream(stream, pause) == ACL_SUCCESS);
  for (int i = 0; i < 20; ++i) REQUIRE(aclmdlExecuteAsync(model, from, to, stream) == ACL_SUCCESS);
  CHECK(aclmdlUnload(model) == ACL_SUCCESS);
  CHECK(output == engine_result(input, 1));
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

TEST_CASE("a description lists every input and output with shape, type and bytes") {
  const Session session;
  const uint32_t model = load(tiny_model(2, 2));
  const Described described(model);
  aclmdlDesc* desc = described.desc;
  REQUIRE(aclmdlGetNumInputs(desc) == 1);
  REQUIRE(aclmdlGetNumOutputs(desc) == 1);
  CHECK(std::string(aclmdlGetInputNameByIndex(desc, 0)) == "image");
  CHECK(std::string(aclmdlGetOutputNameByIndex(desc, 0)) == "top");
  CHECK(aclmdlGetInputSizeByIndex(desc, 0) == 2 * kImageFloats * 4);
  CHECK(aclmdlGetOutputSizeByIndex(desc, 0) == 2 * 3 * 4);
  CHECK(aclmdlGetInputFormat(desc, 0) == ACL_FORMAT_NCHW);
  CHECK(aclmdlGetOutputDataType(desc, 0) == ACL_FLOAT);
  aclmdlIODims dims;
  CHECK(aclmdlGetInputDims(desc, 0, &dims) == ACL_SUCCESS);
  CHECK(std::vector<int64_t>(dims.dims, dims.dims + dims.dimCount) ==
        std::vector<int64_t>{2, 2, 4, 4});
  CHECK(std::string(dims.name) == "image");
  size_t index = 9;
  CHECK(aclmdlGetOutputIndexByName(desc, "top", &index) == ACL_SUCCESS);
  CHECK(index == 0);
  CHECK(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_TENSOR_NAME, &index) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlGetInputSizeByIndex(desc, 1) == 0);
  CHECK(aclmdlGetInputNameByIndex(nullptr, 0) == nullptr);
  CHECK(aclmdlGetOutputDims(desc, 1, &dims) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlGetDesc(nullptr, model) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlGetDesc(desc, model + 1) == ACL_ERROR_INVALID_MODEL_ID);
  aclmdlBatch batch;
  CHECK(aclmdlGetDynamicBatch(desc, &batch) == ACL_SUCCESS);
  CHECK(batch.batchCount == 0);
}

TEST_CASE("a dynamic batch is set through one more input, as on a card") {
  const Session session;
  const uint32_t model = load(tiny_model(1, 4));
  const Described described(model);
  aclmdlDesc* desc = described.desc;
  REQUIRE(aclmdlGetNumInputs(desc) == 2);
  size_t index = 0;
  REQUIRE(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_TENSOR_NAME, &index) == ACL_SUCCESS);
  CHECK(index == 1);
  CHECK(aclmdlGetInputSizeByIndex(desc, 0) == 4 * kImageFloats * 4);
  CHECK(aclmdlGetInputSizeByIndex(desc, 1) == 8);
  aclmdlIODims dims;
  CHECK(aclmdlGetInputDims(desc, 0, &dims) == ACL_SUCCESS);
  CHECK(dims.dims[0] == -1);
  CHECK(aclmdlGetOutputDims(desc, 0, &dims) == ACL_SUCCESS);
  CHECK(dims.dims[0] == 4);
  aclmdlBatch batches;
  CHECK(aclmdlGetDynamicBatch(desc, &batches) == ACL_SUCCESS);
  CHECK(batches.batchCount == 4);
  CHECK(batches.batch[3] == 4);

  std::vector<float> input = images(4), output(12, -1.0F);
  uint64_t batch_memory = 0;
  DataSet from(input);
  from.add(&batch_memory, sizeof batch_memory);
  const DataSet to(output);
  CHECK(aclmdlSetDynamicBatchSize(model, from, index, 0) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetDynamicBatchSize(model, from, index, 5) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetDynamicBatchSize(model, from, 0, 3) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetDynamicBatchSize(model, from, index, 3) == ACL_SUCCESS);
  CHECK(batch_memory == 3);
  CHECK(aclmdlExecute(model, from, to) == ACL_SUCCESS);
  const std::vector<float> expected = engine_result(input, 3);
  CHECK(std::equal(expected.begin(), expected.end(), output.begin()));
  CHECK(output[9] == -1.0F);  // only three images were requested
  CHECK(aclmdlGetCurOutputDims(desc, 0, &dims) == ACL_SUCCESS);
  CHECK(dims.dims[0] == 3);

  const uint32_t fixed = load(tiny_model());
  CHECK(aclmdlSetDynamicBatchSize(fixed, from, index, 1) == ACL_ERROR_MODEL_NOT_DYNAMIC);
}

TEST_CASE("a model with many batches lists only as many as fit") {
  const Session session;
  const Described described(load(tiny_model(1, 1000)));
  aclmdlBatch batches;
  REQUIRE(aclmdlGetDynamicBatch(described.desc, &batches) == ACL_SUCCESS);
  REQUIRE(batches.batchCount == 11);
  CHECK(batches.batch[9] == 512);
  CHECK(batches.batch[10] == 1000);
}

TEST_CASE("unsuitable data sets are refused with a message") {
  const Session session;
  const uint32_t model = load(tiny_model());
  std::vector<float> input = images(1), output(3), small(2);
  const DataSet from(input), to(output), short_output(small), none;
  DataSet two(input), empty;
  two.add(input.data(), 4);
  empty.add(nullptr, 4096);
  const CapturedStderr captured;
  CHECK(aclmdlExecute(model, nullptr, to) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlExecute(model, from, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlExecute(model, none, to) == ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  CHECK(aclmdlExecute(model, two, to) == ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  CHECK(aclmdlExecute(model, from, short_output) == ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
  CHECK(aclmdlExecuteAsync(model, empty, to, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(captured.text().find("output 0 needs 12 bytes, the buffer has 8") != std::string::npos);
  CHECK(aclmdlAddDatasetBuffer(nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlGetDatasetBuffer(from, 1) == nullptr);
}

TEST_CASE("models can be loaded from files, and sizes be queried before") {
  const Session session;
  const msprof::test::TempFolder folder;
  const std::string path = (folder / "tiny.om").string();
  std::ofstream(path) << tiny_model();
  size_t work = 0, weights = 0;
  REQUIRE(aclmdlQuerySize(path.c_str(), &work, &weights) == ACL_SUCCESS);
  CHECK(work > kImageFloats * 4);
  CHECK(weights == (3 * 2 * 9 + 3) * 4);
  uint32_t model = 0, second = 0, third = 0;
  CHECK(aclmdlLoadFromFile(path.c_str(), &model) == ACL_SUCCESS);
  std::vector<char> memory(work + weights);
  CHECK(aclmdlLoadFromFileWithMem(path.c_str(), &second, memory.data(), work, memory.data() + work,
                                  weights) == ACL_SUCCESS);
  CHECK(second != model);
  const CapturedStderr quiet;
  CHECK(aclmdlLoadFromFileWithMem(path.c_str(), &third, memory.data(), 1, nullptr, 0) ==
        ACL_ERROR_INVALID_PARAM);
  aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
  const size_t type = ACL_MDL_LOAD_FROM_FILE;
  const char* text = path.c_str();
  CHECK(aclmdlLoadWithConfig(config, &third) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetConfigOpt(config, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof type) == ACL_SUCCESS);
  CHECK(aclmdlSetConfigOpt(config, ACL_MDL_PATH_PTR, &text, sizeof text) == ACL_SUCCESS);
  CHECK(aclmdlSetConfigOpt(config, ACL_MDL_PATH_PTR, &text, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlLoadWithConfig(config, &third) == ACL_SUCCESS);
  CHECK(aclmdlDestroyConfigHandle(config) == ACL_SUCCESS);
  CHECK(aclmdlUnload(third) == ACL_SUCCESS);
}

TEST_CASE("a compiled model and missing or invalid files are refused with a message") {
  const Session session;
  const msprof::test::TempFolder folder;
  const std::string compiled = (folder / "real.om").string(), empty = (folder / "empty").string();
  std::ofstream(compiled) << "IMOD" << std::string(1000, '\x01');
  std::ofstream(empty).close();
  uint32_t model = 77;
  const auto refused = [&](const std::string& path, aclError code, const std::string& words) {
    const CapturedStderr captured;
    CHECK(aclmdlLoadFromFile(path.c_str(), &model) == code);
    const std::string said = captured.text();
    INFO(said);
    CHECK(said.find(words) != std::string::npos);
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  };
  refused(compiled, ACL_ERROR_PARSE_MODEL, "a compiled model (.om) runs only on a card");
  refused(empty, ACL_ERROR_PARSE_MODEL, "empty");
  refused((folder / "none").string(), ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, "cannot be read");
  refused(folder.path().string(), ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, "cannot be read");
  refused("/dev/zero", ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID, "cannot be read");
  CHECK(aclmdlLoadFromFile(nullptr, &model) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlLoadFromFile(compiled.c_str(), nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlLoadFromMem(nullptr, 5, &model) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlLoadFromMem("x", 0, &model) == ACL_ERROR_INVALID_PARAM);
  CHECK(model == 77);
}

TEST_CASE("damaged bytes anywhere give a model or an error code, never a crash") {
  const Session session;
  const CapturedStderr quiet;
  const std::string whole = tiny_model(1, 4);
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = whole;
    if (round % 3 == 0) damaged.resize(random() % damaged.size() + 1);
    for (int i = 0; i < round % 4; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    uint32_t model = 0;
    const aclError code = aclmdlLoadFromMem(damaged.data(), damaged.size(), &model);
    if (code == ACL_SUCCESS) {
      CHECK(aclmdlUnload(model) == ACL_SUCCESS);
    } else {
      CHECK(code == ACL_ERROR_PARSE_MODEL);
    }
  }
}
