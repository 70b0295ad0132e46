#include "runtime/acl/prof/subscription.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/prof_fixture.hpp"
#include "runtime/acl/include/profiling/aprof_pub.h"
#include "runtime/acl/prof/op_record.hpp"
#include "runtime/prof/record_queue.hpp"
#include "runtime/prof/subscription.hpp"
#include "support/eventually.hpp"

using namespace msprof::acl;
using namespace msprof::acl::test;
using msprof::test::eventually;
using std::chrono::steady_clock;

namespace {

OpInfo make_op(const std::string& name, const std::string& type) {
  OpInfo op;
  op.name = name;
  op.type = type;
  op.work.macs = 10;
  op.work.vector_ops = 3;
  describe(op);
  return op;
}

RanTask make_task(std::uint32_t model, const OpInfo& op, std::uint64_t begin_us) {
  RanTask task;
  task.ids.device = 2;
  task.model = model;
  task.op = &op;
  task.images = 2;
  task.begin_ns = begin_us * 1000 + 999;
  task.end_ns = task.begin_ns + 7000;
  return task;
}

std::string read_all(int fd) {
  std::string bytes;
  char part[4096];
  ssize_t got = 0;
  while ((got = read(fd, part, sizeof part)) > 0) bytes.append(part, static_cast<std::size_t>(got));
  return bytes;
}

// Returns the start times of the records, after checking each through the interface.
std::vector<std::uint64_t> read_starts(const std::string& bytes) {
  std::uint32_t count = 0;
  REQUIRE(aclprofGetOpNum(bytes.data(), bytes.size(), &count) == ACL_SUCCESS);
  std::vector<std::uint64_t> starts;
  for (std::uint32_t i = 0; i < count; ++i)
    starts.push_back(aclprofGetOpStart(bytes.data(), bytes.size(), i));
  return starts;
}

std::vector<std::uint64_t> counted(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i) numbers[i] = first + i;
  return numbers;
}

// Subscribes a model id, without a device, to a pipe.
class Subscribed {
 public:
  explicit Subscribed(std::uint32_t model) : model_(model) {
    REQUIRE(pipe(ends_) == 0);
    REQUIRE(subscribe(model, 0, {true, 0xFF, ends_[1]}) == ACL_SUCCESS);
  }
  ~Subscribed() {
    unsubscribe(model_);
    close_reader();
  }
  Subscribed(const Subscribed&) = delete;
  Subscribed& operator=(const Subscribed&) = delete;
  void close_reader() {
    if (ends_[0] >= 0) close(std::exchange(ends_[0], -1));
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }

 private:
  std::uint32_t model_;
  int ends_[2] = {-1, -1};
};

constexpr std::uint32_t kModel = 77;

// Sets the time to wait for readers, for its lifetime.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds time) { msprof::runtime::set_reader_patience(time); }
  ~Patience() { msprof::runtime::set_reader_patience(std::chrono::seconds(10)); }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
};

}  // namespace

TEST_CASE("a record describes the device's task, and each of its fields can be queried") {
  const OpInfo op = make_op("conv1", "Conv2D");
  std::string bytes;
  {
    Subscribed subscribed(kModel);
    CHECK(is_subscribed(kModel));
    send_to_subscriber(make_task(kModel, op, 5));
    send_to_subscriber(make_task(kModel + 1, op, 6));  // not subscribed
    CHECK(unsubscribe(kModel) == ACL_SUCCESS);
    CHECK_FALSE(is_subscribed(kModel));
    bytes = read_all(subscribed.reader());
    CHECK(unsubscribe(kModel) == ACL_ERROR_INVALID_MODEL_ID);
  }
  std::size_t size = 0;
  REQUIRE(aclprofGetOpDescSize(&size) == ACL_SUCCESS);
  CHECK(size == 80);
  REQUIRE(bytes.size() == 80);
  const auto field = [&](std::size_t offset, std::size_t width) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, width);
    return value;
  };
  CHECK(field(4, 4) == kModel);
  CHECK(field(24, 8) == 7);
  CHECK(field(32, 8) == 5);
  CHECK(field(40, 8) == 12);
  CHECK(field(56, 8) == 40);  // 2 operations per multiply-accumulate, 2 images
  CHECK(field(64, 8) == 6);
  CHECK(field(72, 4) == 2);
  const char* data = bytes.data();
  CHECK(aclprofGetModelId(data, 80, 0) == kModel);
  CHECK(aclprofGetOpStart(data, 80, 0) == 5);
  CHECK(aclprofGetOpEnd(data, 80, 0) == 12);
  CHECK(aclprofGetOpDuration(data, 80, 0) == 7);
  CHECK(aclprofGetOpFlag(data, 80, 0) == ACL_SUBSCRIBE_OP);
  CHECK(aclprofGetOpAttriValue(data, 80, 0, ACL_SUBSCRIBE_ATTRI_THREADID) == nullptr);
  REQUIRE(aclprofGetOpNameLen(data, 80, 0, &size) == ACL_SUCCESS);
  CHECK(size == 6);
  REQUIRE(aclprofGetOpTypeLen(data, 80, 0, &size) == ACL_SUCCESS);
  CHECK(size == 7);
  char text[65];
  for (int again = 0; again < 2; ++again) {
    REQUIRE(aclprofGetOpType(data, 80, 0, text, sizeof text) == ACL_SUCCESS);
    CHECK(std::string(text) == "Conv2D");
  }
  REQUIRE(aclprofGetOpName(data, 80, 0, text, 4) == ACL_SUCCESS);
  CHECK(std::string(text) == "con");
  CHECK(aclprofGetOpName(data, 80, 0, text, 0) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclprofGetOpName(data, 80, 1, text, 4) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclprofGetOpStart(data, 80, 1) == 0);
}

TEST_CASE("the key points of each execution follow its operators") {
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  const std::uint32_t model = scene.model();
  std::vector<float> memory(2 * 4 * 4);
  std::vector<aclmdlDataset*> sets;
  for (int i = 0; i < 2; ++i) {
    sets.push_back(aclmdlCreateDataset());
    aclDataBuffer* const buffer = aclCreateDataBuffer(memory.data(), memory.size() * sizeof(float));
    REQUIRE(aclmdlAddDatasetBuffer(sets.back(), buffer) == ACL_SUCCESS);
  }
  REQUIRE(aclprofModelSubscribe(model, scene.subscription()) == ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) CHECK(aclmdlExecute(model, sets[0], sets[1]) == ACL_SUCCESS);
  // Steps of the application do not belong to the model.
  aclprofStepInfo* const step = aclprofCreateStepInfo();
  CHECK(aclprofGetStepTimestamp(step, ACL_STEP_START, nullptr) == ACL_SUCCESS);
  aclprofDestroyStepInfo(step);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(aclprofModelUnSubscribe(model) == ACL_SUCCESS);
  for (aclmdlDataset* const set : sets) {
    aclDestroyDataBuffer(aclmdlGetDatasetBuffer(set, 0));
    aclmdlDestroyDataset(set);
  }

  const std::string bytes = read_all(scene.reader());
  REQUIRE(read_starts(bytes).size() == 6);
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < 6; ++i) {
    char name[64], type[64];
    REQUIRE(aclprofGetOpName(bytes.data(), bytes.size(), i, name, sizeof name) == ACL_SUCCESS);
    REQUIRE(aclprofGetOpType(bytes.data(), bytes.size(), i, type, sizeof type) == ACL_SUCCESS);
    texts.push_back(std::string(name) + " " + type);
    CHECK(aclprofGetModelId(bytes.data(), bytes.size(), i) == model);
    CHECK(aclprofGetOpFlag(bytes.data(), bytes.size(), i) == ACL_SUBSCRIBE_OP);
  }
  const std::vector<std::string> execution = {"relu1 Relu", "relu2 Relu", "keypoint_op na"};
  CHECK(std::vector(texts.begin(), texts.begin() + 3) == execution);
  CHECK(std::vector(texts.begin() + 3, texts.end()) == execution);
  // An execution's key points enclose its operators.
  for (const std::uint32_t last : {2U, 5U}) {
    const auto start = [&](std::uint32_t i) {
      return aclprofGetOpStart(bytes.data(), bytes.size(), i);
    };
    const auto end = [&](std::uint32_t i) {
      return aclprofGetOpEnd(bytes.data(), bytes.size(), i);
    };
    CHECK(start(last) <= start(last - 2));
    CHECK(end(last) >= end(last - 1));
  }
}

TEST_CASE("a graph's model is subscribed on the device set by the program") {
  constexpr std::uint32_t kGraphModel = 7000;
  const OpInfo op = make_op("conv1", "Conv2D");
  const CapturedStderr quiet;
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  CHECK(aclprofModelSubscribe(kGraphModel, scene.subscription()) == ACL_ERROR_INVALID_MODEL_ID);
  REQUIRE(MsprofSetDeviceIdByGeModelIdx(kGraphModel, 1) == 0);
  CHECK(MsprofSetDeviceIdByGeModelIdx(kGraphModel, 0) == -1);
  REQUIRE(aclprofModelSubscribe(kGraphModel, scene.subscription()) == ACL_SUCCESS);
  send_to_subscriber(make_task(kGraphModel, op, 5));
  // The pipe is closed although the model was never loaded: a reader reaches the end.
  CHECK(aclprofModelUnSubscribe(kGraphModel) == ACL_SUCCESS);
  CHECK(read_starts(read_all(scene.reader())) == std::vector<std::uint64_t>{5});
  CHECK(MsprofUnsetDeviceIdByGeModelIdx(kGraphModel, 0) == -1);
  CHECK(MsprofUnsetDeviceIdByGeModelIdx(kGraphModel, 1) == 0);
  CHECK(aclprofModelSubscribe(kGraphModel, scene.subscription()) == ACL_ERROR_INVALID_MODEL_ID);
  // A loaded model already has its device.
  const std::uint32_t loaded = scene.model(2);
  CHECK(MsprofSetDeviceIdByGeModelIdx(loaded, 1) == -1);
  CHECK(MsprofSetDeviceIdByGeModelIdx(loaded, 2) == 0);
  CHECK(MsprofUnsetDeviceIdByGeModelIdx(loaded, 2) == 0);
  // This host has no such device.
  CHECK(MsprofSetDeviceIdByGeModelIdx(kGraphModel, 64) == -1);
}

TEST_CASE("a record changed in transit is refused") {
  const OpInfo op = make_op("conv1", "Conv2D");
  OpRecord record =
      make_op_record(make_task(kModel, op, 5), OpNameIds::instance().find_or_add(op.name, op.type));
  CHECK(aclprofGetOpStart(&record, sizeof record, 0) == 5);
  record.start += 1;
  char text[8];
  CHECK(aclprofGetOpStart(&record, sizeof record, 0) == 0);
  CHECK(aclprofGetModelId(&record, sizeof record, 0) == 0);
  CHECK(aclprofGetOpFlag(&record, sizeof record, 0) == ACL_SUBSCRIBE_NONE);
  CHECK(aclprofGetOpName(&record, sizeof record, 0, text, sizeof text) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("the signature is the CRC-32C of the following bytes") {
  // Computes the checksum bit by bit, by the definition of the polynomial.
  OpRecord record = {};
  record.model = 3;
  record.end = 0x0123456789ABCDEF;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&record);
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t i = 4; i < sizeof record; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
  }
  CHECK(compute_signature(record) == crc);
}

TEST_CASE("a slow reader loses no records and blocks no thread") {
  constexpr std::uint64_t kCount = 100'000;  // 8 MB: exceeds the pipe and the 2 MiB in memory
  const OpInfo op = make_op("relu", "Relu");
  Subscribed subscribed(kModel);
  for (std::uint64_t i = 0; i < kCount; ++i) send_to_subscriber(make_task(kModel, op, 1 + i));
  std::string bytes;
  std::thread reader([&] { bytes = read_all(subscribed.reader()); });
  const CapturedStderr captured;
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  reader.join();
  CHECK(read_starts(bytes) == counted(1, kCount));
  CHECK(captured.text().empty());
}

TEST_CASE("every write is a whole number of records, also with small reads") {
  constexpr std::uint64_t kCount = 2000;
  const OpInfo op = make_op("relu", "Relu");
  Subscribed subscribed(kModel);
  std::vector<std::string> pieces;
  std::thread reader([&] {
    char part[80 * 10];
    ssize_t got = 0;
    while ((got = read(subscribed.reader(), part, sizeof part)) > 0)
      pieces.emplace_back(part, static_cast<std::size_t>(got));
  });
  for (std::uint64_t i = 0; i < kCount; ++i) send_to_subscriber(make_task(kModel, op, 1 + i));
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  reader.join();
  std::vector<std::uint64_t> starts;
  for (const std::string& piece : pieces) {
    for (const std::uint64_t start : read_starts(piece)) starts.push_back(start);
  }
  CHECK(starts == counted(1, kCount));
}

TEST_CASE("records above the limit are counted and reported once at the end") {
  const Variable limit("MSPROF_SUBSCRIBE_SPILL", "80000");  // 1000 records
  constexpr std::uint64_t kCount = 40'000;
  const OpInfo op = make_op("relu", "Relu");
  Subscribed subscribed(kModel);
  for (std::uint64_t i = 0; i < kCount; ++i) send_to_subscriber(make_task(kModel, op, 1 + i));
  std::string bytes;
  std::thread reader([&] { bytes = read_all(subscribed.reader()); });
  std::string said;
  {
    const CapturedStderr captured;
    CHECK(unsubscribe(kModel) == ACL_SUCCESS);
    said = captured.text();
  }
  reader.join();
  const auto starts = read_starts(bytes);
  CHECK(starts.size() < kCount);
  CHECK(starts.size() >= 2 * 1024 * 1024 / 80 - 1000);
  CHECK(starts == counted(1, starts.size()));
  CHECK(said == "msprof runtime: " + std::to_string(kCount - starts.size()) +
                    " records of subscribed model 77 were not sent: its reader was too slow\n");
}

TEST_CASE("an invalid limit is reported, and the default is used") {
  const Variable limit("MSPROF_SUBSCRIBE_SPILL", "much");
  const CapturedStderr captured;
  Subscribed subscribed(kModel);
  CHECK(captured.text().find("MSPROF_SUBSCRIBE_SPILL must be") != std::string::npos);
}

TEST_CASE("a reader that does not read is waited for only up to the time limit") {
  constexpr std::uint64_t kCount = 5000;
  const Patience patience(std::chrono::milliseconds(300));
  const OpInfo op = make_op("relu", "Relu");
  Subscribed subscribed(kModel);
  for (std::uint64_t i = 0; i < kCount; ++i) send_to_subscriber(make_task(kModel, op, 1 + i));
  const CapturedStderr captured;
  const auto begin = steady_clock::now();
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  CHECK(steady_clock::now() - begin >= std::chrono::milliseconds(300));
  // Data in the pipe still reaches the reader.
  const std::size_t sent = read_starts(read_all(subscribed.reader())).size();
  CHECK(captured.text().find(std::to_string(kCount - sent) + " records") != std::string::npos);
}

TEST_CASE("a closed reader ends the subscription with one message and no signal") {
  const OpInfo op = make_op("relu", "Relu");
  Subscribed subscribed(kModel);
  const CapturedStderr captured;
  subscribed.close_reader();
  for (int i = 0; i < 100; ++i) send_to_subscriber(make_task(kModel, op, 1));
  CHECK(eventually([&] { return !captured.text().empty(); }));
  for (int i = 0; i < 100; ++i) send_to_subscriber(make_task(kModel, op, 1));
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  CHECK(
      captured.text() ==
      "msprof runtime: the reader of the subscribed models is gone: the subscription has ended\n");
}

TEST_CASE("unsubscribing closes the application's write end, unless its number is another file") {
  int writer = -1;
  {
    Subscribed subscribed(kModel);
    writer = subscribed.writer();
    CHECK(unsubscribe(kModel) == ACL_SUCCESS);
    CHECK(fcntl(writer, F_GETFD) == -1);
  }
  Subscribed early(kModel);
  const int other = open("/dev/null", O_RDONLY);
  dup2(other, early.writer());  // the application closed its descriptor and reused the number
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  CHECK(fcntl(early.writer(), F_GETFD) != -1);
  CHECK(read_all(early.reader()).empty());
  close(early.writer());
  close(other);
}

TEST_CASE("models of one configuration share its pipe, which closes with the last of them") {
  const OpInfo op = make_op("relu", "Relu");
  Subscribed first(kModel);
  REQUIRE(subscribe(kModel + 1, 0, {true, 0xFF, first.writer()}) == ACL_SUCCESS);
  REQUIRE(subscribe(kModel + 2, 0, {true, 0xFF, first.reader()}) ==
          ACL_ERROR_INVALID_PROFILING_CONFIG);
  send_to_subscriber(make_task(kModel, op, 1));
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  send_to_subscriber(make_task(kModel, op, 2));
  send_to_subscriber(make_task(kModel + 1, op, 3));
  CHECK(fcntl(first.writer(), F_GETFD) != -1);
  CHECK(unsubscribe(kModel + 1) == ACL_SUCCESS);
  CHECK(read_starts(read_all(first.reader())) == std::vector<std::uint64_t>{1, 3});
}

TEST_CASE("threads of several streams send at once") {
  constexpr std::uint64_t kEach = 5000;
  const OpInfo op = make_op("relu", "Relu");
  Subscribed subscribed(kModel);
  std::string bytes;
  std::thread reader([&] { bytes = read_all(subscribed.reader()); });
  std::vector<std::thread> streams;
  for (std::uint64_t s = 0; s < 4; ++s) {
    streams.emplace_back([&, s] {
      for (std::uint64_t i = 0; i < kEach; ++i)
        send_to_subscriber(make_task(kModel, op, 1 + s * kEach + i));
    });
  }
  for (std::thread& stream : streams) stream.join();
  CHECK(unsubscribe(kModel) == ACL_SUCCESS);
  reader.join();
  const auto starts = read_starts(bytes);
  CHECK(starts.size() == 4 * kEach);
  CHECK(std::set<std::uint64_t>(starts.begin(), starts.end()).size() == 4 * kEach);
}

TEST_CASE("finalizing the interface unsubscribes the remaining models") {
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  REQUIRE(aclprofModelSubscribe(scene.model(), scene.subscription()) == ACL_SUCCESS);
  REQUIRE(aclFinalize() == ACL_SUCCESS);
  CHECK(read_all(scene.reader()).empty());
  CHECK_FALSE(is_any_model_subscribed());
  CHECK(aclprofFinalize() == ACL_ERROR_PROF_NOT_RUN);
}

TEST_CASE("a forked child is not subscribed, and its parent's records continue") {
  const OpInfo op = make_op("relu", "Relu");
  Scene scene;
  REQUIRE(scene.acl_init() == ACL_SUCCESS);
  const std::uint32_t model = scene.model();
  REQUIRE(aclprofModelSubscribe(model, scene.subscription()) == ACL_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    const bool right =
        !is_subscribed(model) && aclprofModelUnSubscribe(model) == ACL_ERROR_INVALID_MODEL_ID;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  send_to_subscriber(make_task(model, op, 9));
  CHECK(aclprofModelUnSubscribe(model) == ACL_SUCCESS);
  CHECK(read_starts(read_all(scene.reader())) == std::vector<std::uint64_t>{9});
}

TEST_CASE("waiting records keep their order in memory and in the file, over many rounds") {
  msprof::runtime::RecordQueue queue(80 * 5000);
  std::uint64_t added = 0, taken = 0;
  const auto add = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      OpRecord record = {};
      record.start = added;
      if (!queue.push(record)) return;
      ++added;
    }
  };
  const auto take = [&](std::uint64_t count) {
    while (count > 0 && queue.size() > 0) {
      const auto front = queue.front(std::min<std::uint64_t>(count, 51));
      REQUIRE_FALSE(front.empty());
      for (const OpRecord& record : front) REQUIRE(record.start == taken++);
      count -= front.size();
      queue.drop(front.size());
    }
  };
  for (int turn = 0; turn < 5; ++turn) {
    add(29'000);
    CHECK(queue.spilled() > 0);
    CHECK(queue.size() == added - taken);
    take(27'000);  // the oldest records in the file are next
    add(2'000);
    take(UINT64_MAX);
    CHECK(queue.size() == 0);
    add(100);
  }
  CHECK(queue.unreadable() == 0);
}
