// Work launched before a recording starts or stops is recorded if it runs in time.
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <thread>

#include "acl/capture.hpp"
#include "acl/device_fixture.hpp"
#include "aclnnop/aclnn_add.h"
#include "runtime/acl/device/lookup.hpp"

using namespace msprof::acl::test;
using msprof::test::ImportedCapture;

namespace {

constexpr std::uint64_t kBits = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS;
constexpr long kLayers = 4, kExecutions = 3;

long count_tasks(const ImportedCapture& capture, const std::string& operator_name) {
  return capture.number(
      "SELECT count(*) FROM task JOIN op ON op.id = op_id JOIN name ON name.id = op.name_id WHERE "
      "device_type_name_id IS NOT NULL AND text = '" +
      operator_name + "'");
}

// Sets how long stopping a recording waits for launched work; restores it at the end.
class LaunchPatience {
 public:
  explicit LaunchPatience(std::chrono::milliseconds time) { set(time); }
  ~LaunchPatience() { set(std::chrono::seconds(2)); }
  LaunchPatience(const LaunchPatience&) = delete;
  LaunchPatience& operator=(const LaunchPatience&) = delete;
  static void set(std::chrono::milliseconds time) { msprof::acl::set_launch_patience(time); }
};

}  // namespace

TEST_CASE("executions launched before a recording starts are in it, with their names") {
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  const std::string text = tiny_model();
  uint32_t model = 0;
  REQUIRE(aclmdlLoadFromMem(text.data(), text.size(), &model) == ACL_SUCCESS);
  std::vector<float> input(2 * 4 * 4, 0.5F), output(3), sum(3);
  aclDataBuffer* from_buffer = aclCreateDataBuffer(input.data(), input.size() * 4);
  aclDataBuffer* to_buffer = aclCreateDataBuffer(output.data(), output.size() * 4);
  aclmdlDataset *from = aclmdlCreateDataset(), *to = aclmdlCreateDataset();
  REQUIRE(aclmdlAddDatasetBuffer(from, from_buffer) == ACL_SUCCESS);
  REQUIRE(aclmdlAddDatasetBuffer(to, to_buffer) == ACL_SUCCESS);
  const int64_t dims[] = {3}, strides[] = {1};
  float factor = 1;
  aclTensor* tensor =
      aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, sum.data());
  aclScalar* alpha = aclCreateScalar(&factor, ACL_FLOAT);
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(aclnnInplaceAddGetWorkspaceSize(tensor, tensor, alpha, &workspace, &executor) == OK);

  std::mutex gate;
  gate.lock();
  auto pass = [&gate] { const std::lock_guard passed(gate); };
  REQUIRE(on_stream(nullptr, pass) == ACL_SUCCESS);
  for (long i = 0; i < kExecutions; ++i) {
    REQUIRE(aclmdlExecuteAsync(model, from, to, nullptr) == ACL_SUCCESS);
  }
  REQUIRE(aclnnInplaceAdd(nullptr, workspace, executor, nullptr) == OK);
  REQUIRE(scene.init() == ACL_SUCCESS);
  aclprofConfig* config = scene.config({0}, kBits, ACL_AICORE_PIPE_UTILIZATION);
  REQUIRE(aclprofStart(config) == ACL_SUCCESS);
  gate.unlock();
  REQUIRE(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  REQUIRE(aclmdlExecute(model, from, to) == ACL_SUCCESS);  // recorded, too
  REQUIRE(aclprofStop(config) == ACL_SUCCESS);

  const ImportedCapture capture(scene.only_folder());
  INFO(capture.import().err);
  CHECK(capture.import().exit_code == 0);
  for (const char* layer : {"conv1", "relu1", "pool", "top"}) {
    INFO(layer);
    CHECK(count_tasks(capture, layer) == kExecutions + 1);
  }
  CHECK(count_tasks(capture, "aclnnInplaceAdd_AddAiCore_Add") == 1);
  CHECK(capture.number("SELECT count(*) FROM task WHERE op_id IS NOT NULL AND device_type_name_id"
                       " IS NOT NULL") == (kExecutions + 1) * kLayers + 1);
  CHECK(capture.number("SELECT count(*) FROM iteration") == kExecutions + 1);
  aclDestroyTensor(tensor);
  aclDestroyScalar(alpha);
  aclmdlDestroyDataset(from);
  aclmdlDestroyDataset(to);
  aclDestroyDataBuffer(from_buffer);
  aclDestroyDataBuffer(to_buffer);
}

TEST_CASE("tasks launched before a recording stops are run and recorded") {
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  REQUIRE(scene.init() == ACL_SUCCESS);
  aclprofConfig* config = scene.config({0}, kBits, ACL_AICORE_PIPE_UTILIZATION);
  REQUIRE(aclprofStart(config) == ACL_SUCCESS);
  int ran = 0;
  auto slow = [&ran] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ran;
  };
  for (int i = 0; i < 10; ++i) REQUIRE(on_stream(nullptr, slow) == ACL_SUCCESS);
  REQUIRE(aclprofStop(config) == ACL_SUCCESS);
  CHECK(ran == 10);
  const ImportedCapture capture(scene.only_folder());
  INFO(capture.import().out << capture.import().err);
  CHECK(capture.number("SELECT count(*) FROM task WHERE device_type_name_id IS NOT NULL") == 10);
  CHECK(capture.number("SELECT count(*) FROM import_log WHERE reason LIKE '%not seen%'") == 0);
}

TEST_CASE("stopping waits for running tasks up to a limit, but not for waiting ones") {
  // Longer than the test runner's limit: a call that returns did not wait.
  constexpr std::chrono::hours kForEver{10};
  constexpr std::chrono::milliseconds kShort{300};
  LaunchPatience patience(kForEver);
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  REQUIRE(scene.init() == ACL_SUCCESS);
  const auto start_and_stop = [&](aclprofConfig* config) {
    return aclprofStart(config) == ACL_SUCCESS && aclprofStop(config) == ACL_SUCCESS;
  };
  aclprofConfig* const config = scene.config({0}, kBits, ACL_AICORE_PIPE_UTILIZATION);
  {
    const OwnStream stream;
    const OwnEvent event;
    REQUIRE(aclrtStreamWaitEvent(stream, event) == ACL_SUCCESS);
    CHECK(start_and_stop(config));
    REQUIRE(aclrtRecordEvent(event, nullptr) == ACL_SUCCESS);
    REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  }
  std::mutex gate;
  gate.lock();
  auto pass = [&gate] { const std::lock_guard passed(gate); };
  REQUIRE(on_stream(nullptr, pass) == ACL_SUCCESS);
  patience.set(kShort);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(start_and_stop(config));
  CHECK(std::chrono::steady_clock::now() - begin >= kShort);
  patience.set(kForEver);
  // Stopping a recording of a device without launched work does not wait.
  CHECK(start_and_stop(scene.config({1}, kBits, ACL_AICORE_PIPE_UTILIZATION)));
  gate.unlock();
  // A function running on a stream cannot wait for its own stream.
  bool stopped_inside = false;
  auto stop_inside = [&] { stopped_inside = start_and_stop(config); };
  REQUIRE(on_stream(nullptr, stop_inside) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(stopped_inside);
}
