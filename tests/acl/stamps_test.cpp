#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "acl/prof_fixture.hpp"
#include "runtime/acl/prof/dictionary.hpp"
#include "runtime/acl/prof/stamps.hpp"
#include "wire/cann/host_wire.hpp"

using namespace msprof::acl;
using namespace msprof::acl::test;

namespace {

std::vector<msprof::MsprofTxWire> read_records(const std::filesystem::path& prof) {
  const std::string bytes = host_bytes(prof, "msproftx");
  std::vector<msprof::MsprofTxWire> records(bytes.size() / sizeof(msprof::MsprofTxWire));
  if (!bytes.empty()) std::memcpy(records.data(), bytes.data(), records.size() * 256);
  return records;
}

std::string message(const msprof::MsprofTxWire& record) {
  return {record.message, strnlen(record.message, sizeof record.message)};
}

// Runs between aclprofStart with MSPROFTX and aclprofStop.
class StampScene : public Scene {
 public:
  explicit StampScene(std::vector<std::uint32_t> devices = {}) {
    REQUIRE(init() == ACL_SUCCESS);
    config_ = config(std::move(devices), ACL_PROF_MSPROFTX);
    REQUIRE(aclprofStart(config_) == ACL_SUCCESS);
  }
  std::vector<msprof::MsprofTxWire> stop() {
    REQUIRE(aclprofStop(config_) == ACL_SUCCESS);
    return read_records(only_folder());
  }

 private:
  aclprofConfig* config_ = nullptr;
};

void* stamp(const std::string& text) {
  void* const made = aclprofCreateStamp();
  REQUIRE(made != nullptr);
  REQUIRE(aclprofSetStampTraceMessage(made, text.c_str(),
                                      static_cast<std::uint32_t>(text.size())) == ACL_SUCCESS);
  return made;
}

}  // namespace

TEST_CASE("stamps exist only during a recording, at most 100 at a time") {
  CHECK(aclprofCreateStamp() == nullptr);
  StampScene scene;
  std::set<void*> stamps;
  for (int i = 0; i < 100; ++i) stamps.insert(aclprofCreateStamp());
  CHECK(stamps.size() == 100);
  CHECK(stamps.count(nullptr) == 0);
  CHECK(aclprofCreateStamp() == nullptr);
  aclprofDestroyStamp(nullptr);
  aclprofDestroyStamp(*stamps.begin());
  CHECK(aclprofMark(*stamps.begin()) == kTxFailure);
  void* const again = aclprofCreateStamp();
  CHECK(again == *stamps.begin());
  for (void* one : stamps) aclprofDestroyStamp(one);
  int no_stamp = 0;
  CHECK(aclprofMark(&no_stamp) == kTxFailure);
}

TEST_CASE("a mark has one time, the message, the category and the payload of its stamp") {
  StampScene scene;
  void* const one = stamp("decode");
  std::uint64_t payload = 0x1122334455667788;
  CHECK(aclprofSetStampCategory(one, 9) == ACL_SUCCESS);
  CHECK(aclprofSetCategoryName(9, "stages") == ACL_SUCCESS);
  CHECK(aclprofSetStampPayload(one, 0, &payload) == ACL_SUCCESS);
  CHECK(aclprofSetStampTraceMessage(one, std::string(128, 'x').c_str(), 128) == kTxFailure);
  const std::uint64_t before = msprof::runtime::monotonic_ns();
  CHECK(aclprofMark(one) == ACL_SUCCESS);
  const std::uint64_t after = msprof::runtime::monotonic_ns();
  aclprofDestroyStamp(one);
  const auto records = scene.stop();
  REQUIRE(records.size() == 1);
  const auto& record = records[0];
  CHECK(record.head.magic == msprof::kRecordMagic);
  CHECK(record.head.level == 20500);
  CHECK(record.event_type == 0);
  CHECK(record.info_type == 0);
  CHECK(record.process_id == static_cast<std::uint32_t>(getpid()));
  CHECK(record.thread_id == static_cast<std::uint32_t>(syscall(SYS_gettid)));
  CHECK(record.category == 9);
  CHECK(record.payload == payload);
  CHECK(message(record) == "decode");
  CHECK(record.start_count == record.end_count);
  CHECK(record.start_count >= before);
  CHECK(record.end_count <= after);
}

TEST_CASE("a message of 127 bytes is recorded completely") {
  StampScene scene;
  void* const one = stamp(std::string(127, 'm'));
  CHECK(aclprofMark(one) == ACL_SUCCESS);
  aclprofDestroyStamp(one);
  CHECK(message(scene.stop().at(0)) == std::string(127, 'm'));
}

TEST_CASE("pushed stamps end in reverse order, even if changed or destroyed") {
  StampScene scene;
  void* const outer = stamp("outer");
  void* const inner = stamp("inner");
  REQUIRE(aclprofPush(outer) == ACL_SUCCESS);
  REQUIRE(aclprofPush(inner) == ACL_SUCCESS);
  aclprofDestroyStamp(inner);
  CHECK(aclprofPop() == ACL_SUCCESS);
  CHECK(aclprofPop() == ACL_SUCCESS);
  CHECK(aclprofPop() == kTxFailure);
  aclprofDestroyStamp(outer);
  const auto records = scene.stop();
  REQUIRE(records.size() == 2);
  CHECK(message(records[0]) == "inner");
  CHECK(message(records[1]) == "outer");
  CHECK(records[0].event_type == 1);
  CHECK(records[1].start_count <= records[0].start_count);
  CHECK(records[1].end_count >= records[0].end_count);
}

TEST_CASE("each thread pops its own stamps") {
  StampScene scene;
  void* const one = stamp("mine");
  REQUIRE(aclprofPush(one) == ACL_SUCCESS);
  aclError other = ACL_SUCCESS;
  std::thread([&] { other = aclprofPop(); }).join();
  CHECK(other == kTxFailure);
  CHECK(aclprofPop() == ACL_SUCCESS);
  aclprofDestroyStamp(one);
  CHECK(scene.stop().size() == 1);
}

TEST_CASE("ranges can overlap, and one stopped by another thread has its starting thread") {
  StampScene scene;
  void* const one = stamp("one");
  void* const two = stamp("two");
  std::uint32_t first = 0, second = 0;
  REQUIRE(aclprofRangeStart(one, &first) == ACL_SUCCESS);
  REQUIRE(aclprofRangeStart(two, &second) == ACL_SUCCESS);
  CHECK(first != second);
  aclError stopped = -1;
  std::thread([&] { stopped = aclprofRangeStop(first); }).join();
  CHECK(stopped == ACL_SUCCESS);
  CHECK(aclprofRangeStop(first) == kTxFailure);
  CHECK(aclprofRangeStop(second) == ACL_SUCCESS);
  aclprofDestroyStamp(one);
  aclprofDestroyStamp(two);
  const auto records = scene.stop();
  REQUIRE(records.size() == 2);
  CHECK(message(records[0]) == "one");
  CHECK(message(records[1]) == "two");
  CHECK(records[0].event_type == 2);
  CHECK(records[0].thread_id == static_cast<std::uint32_t>(syscall(SYS_gettid)));
  CHECK(records[1].start_count < records[0].end_count);
}

TEST_CASE("at most 4096 ranges are open, and each slot is reused") {
  StampScene scene;
  void* const one = stamp("many");
  std::vector<std::uint32_t> open(kMaxOpenRanges);
  for (std::uint32_t& id : open) REQUIRE(aclprofRangeStart(one, &id) == ACL_SUCCESS);
  std::uint32_t more = 0;
  CHECK(aclprofRangeStart(one, &more) == kTxFailure);
  CHECK(aclprofRangeStop(open[7]) == ACL_SUCCESS);
  CHECK(aclprofRangeStart(one, &more) == ACL_SUCCESS);
  open[7] = more;
  for (const std::uint32_t id : open) REQUIRE(aclprofRangeStop(id) == ACL_SUCCESS);
  aclprofDestroyStamp(one);
  CHECK(scene.stop().size() == kMaxOpenRanges + 1);
}

TEST_CASE("concurrent stamps of many threads are all recorded intact") {
  StampScene scene;
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kRounds; ++i) {
        void* const one = aclprofCreateStamp();
        const std::string text = "thread " + std::to_string(t) + " round " + std::to_string(i);
        aclprofSetStampTraceMessage(one, text.c_str(), static_cast<std::uint32_t>(text.size()));
        std::uint32_t id = 0;
        aclprofPush(one);
        aclprofRangeStart(one, &id);
        aclprofRangeStop(id);
        aclprofPop();
        aclprofDestroyStamp(one);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, int> seen;
  for (const auto& record : scene.stop()) ++seen[message(record)];
  CHECK(seen.size() == kThreads * kRounds);
  CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& entry) { return entry.second == 2; }));
}

TEST_CASE("every recording with stamps gets them, from its start on") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  REQUIRE(aclprofStart(scene.config({0}, ACL_PROF_MSPROFTX)) == ACL_SUCCESS);
  void* const early = stamp("early");
  std::uint32_t open = 0;
  REQUIRE(aclprofRangeStart(early, &open) == ACL_SUCCESS);
  REQUIRE(aclprofStart(scene.config({1}, ACL_PROF_MSPROFTX)) == ACL_SUCCESS);
  REQUIRE(aclprofStart(scene.config({2}, ACL_PROF_ACL_API)) == ACL_SUCCESS);
  CHECK(aclprofRangeStop(open) == ACL_SUCCESS);
  CHECK(aclprofMark(early) == ACL_SUCCESS);
  aclprofDestroyStamp(early);
  REQUIRE(aclprofFinalize() == ACL_SUCCESS);
  std::vector<std::size_t> counts;
  for (const std::string& name : scene.folders())
    counts.push_back(read_records(scene.output() + "/" + name).size());
  std::sort(counts.begin(), counts.end());
  CHECK(counts == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("stamps that outlive the recording are refused and not in a later one") {
  StampScene scene;
  void* const one = stamp("late");
  REQUIRE(aclprofPush(one) == ACL_SUCCESS);
  CHECK(scene.stop().empty());
  CHECK(aclprofMark(one) == kTxFailure);
  CHECK(aclprofPush(one) == kTxFailure);
  CHECK(aclprofPop() == kTxFailure);
  std::uint32_t id = 0;
  CHECK(aclprofRangeStart(one, &id) == kTxFailure);
  aclprofDestroyStamp(one);
}

TEST_CASE("a mark of a stream is numbered, and its domain and texts are in the dictionary") {
  StampScene scene({0});
  const std::uint64_t number = aclprofStr2Id("my operator");
  CHECK(number == text_hash("my operator"));
  CHECK(aclprofStr2Id(nullptr) == UINT64_MAX);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  CHECK(aclprofMarkEx("on the stream", 13, stream) == ACL_SUCCESS);
  CHECK(aclprofMarkEx("again", 5, stream) == ACL_SUCCESS);
  int no_stream = 0;
  CHECK(aclprofMarkEx("nowhere", 7, &no_stream) == kTxFailure);
  aclrtSynchronizeStream(stream);
  const auto records = scene.stop();
  REQUIRE(records.size() == 2);
  CHECK(records[0].info_type == 1);
  CHECK(records[0].event_type == 3);
  CHECK(records[1].mark_id > records[0].mark_id);
  CHECK(records[0].domain == text_hash("default"));
  CHECK(message(records[0]) == "on the stream");
  const std::string dictionary = host_bytes(scene.only_folder(), "hash_dic");
  CHECK(dictionary.find(std::to_string(number) + ":my operator\n") != std::string::npos);
  CHECK(dictionary.find(":default\n") != std::string::npos);
  aclrtDestroyStream(stream);
}

TEST_CASE("an operator described by the application has its name, type and tensors") {
  Scene scene;
  REQUIRE(scene.init() == ACL_SUCCESS);
  aclprofTensor tensor = {0, 2, 1, 2, {3, 5}};
  aclprofTensorInfo info = {};
  info.opNameId = aclprofStr2Id("mine/MatMul");
  info.opTypeId = aclprofStr2Id("MatMul");
  info.tensorNum = 1;
  info.blockNums = 4;
  info.tensors = &tensor;
  aclprofEventAttributes attributes = {};
  attributes.version = ACL_PROF_EVENT_ATTR_VERSION;
  attributes.size = sizeof attributes;
  attributes.message.tensorInfo = &info;
  CHECK(aclprofRangePushEx(nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclprofRangePushEx(&attributes) == kTxFailure);  // not recorded
  REQUIRE(aclprofStart(scene.config({0}, ACL_PROF_TASK_TIME)) == ACL_SUCCESS);
  CHECK(aclprofRangePushEx(&attributes) == ACL_SUCCESS);
  CHECK(aclprofRangePop() == ACL_SUCCESS);
  CHECK(aclprofRangePop() == kTxFailure);
  REQUIRE(aclprofFinalize() == ACL_SUCCESS);
  msprof::NodeBasicInfoWire basic = {};
  const std::string bytes = host_bytes(scene.only_folder(), "node_basic_info");
  REQUIRE(bytes.size() == 64);
  std::memcpy(&basic, bytes.data(), sizeof basic);
  CHECK(basic.name == text_hash("mine/MatMul"));
  CHECK(basic.type == text_hash("MatMul"));
  CHECK(basic.blocks == 4);
  msprof::TensorInfoWire tensors = {};
  const std::string shapes = host_bytes(scene.only_folder(), "tensor_info");
  REQUIRE(shapes.size() == 256);
  std::memcpy(&tensors, shapes.data(), sizeof tensors);
  CHECK(tensors.tensor_count == 1);
  CHECK(tensors.tensors[0].shape[1] == 5);
  // The names were registered before the recording started.
  CHECK(host_bytes(scene.only_folder(), "hash_dic").find(":mine/MatMul\n") != std::string::npos);
}

TEST_CASE("a forked child has no stamps or ranges of its parent") {
  StampScene scene;
  void* const one = stamp("parent's");
  std::uint32_t id = 0;
  REQUIRE(aclprofPush(one) == ACL_SUCCESS);
  REQUIRE(aclprofRangeStart(one, &id) == ACL_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    const bool right = aclprofPop() == kTxFailure && aclprofRangeStop(id) == kTxFailure &&
                       aclprofMark(one) == kTxFailure;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(aclprofPop() == ACL_SUCCESS);
  CHECK(aclprofRangeStop(id) == ACL_SUCCESS);
  aclprofDestroyStamp(one);
  CHECK(scene.stop().size() == 2);
}
