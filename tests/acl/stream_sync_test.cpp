// Streams synchronized by means other than events (notifies, values in memory), and streams that
// stop (aborts, failures). Also registered memory and batched copies.
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "acl/device_fixture.hpp"
#include "support/eventually.hpp"

using namespace msprof::acl::test;
using msprof::test::eventually;

namespace {

class OwnNotify {
 public:
  OwnNotify() { REQUIRE(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT) == ACL_SUCCESS); }
  ~OwnNotify() { aclrtDestroyNotify(notify_); }
  OwnNotify(const OwnNotify&) = delete;
  OwnNotify& operator=(const OwnNotify&) = delete;

  operator aclrtNotify() const { return notify_; }

 private:
  aclrtNotify notify_ = nullptr;
};

// Counts how often a stream has reached this point.
struct Passed {
  explicit Passed(aclrtStream on) : stream(on) {}
  void mark() { REQUIRE(on_stream(stream, count) == ACL_SUCCESS); }
  int times() const { return *counter; }

  aclrtStream stream;
  std::shared_ptr<std::atomic<int>> counter = std::make_shared<std::atomic<int>>(0);
  std::function<void()> count = [counter = counter] { ++*counter; };
};

// Long enough for all streams that need not wait to run their tasks.
void let_streams_run() {
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

aclrtPtrAttributes read_attributes(const void* memory) {
  aclrtPtrAttributes attributes = {};
  REQUIRE(aclrtPointerGetAttributes(memory, &attributes) == ACL_SUCCESS);
  return attributes;
}

}  // namespace

TEST_CASE("a notify releases one wait per record, in any order") {
  const Session session;
  const OwnStream waiting, recording;
  const OwnNotify notify;
  Passed passed(waiting);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(aclrtWaitAndResetNotify(notify, waiting, 0) == ACL_SUCCESS);
    passed.mark();
  }
  let_streams_run();
  CHECK(passed.times() == 0);
  REQUIRE(aclrtRecordNotify(notify, recording) == ACL_SUCCESS);
  CHECK(eventually([&] { return passed.times() == 1; }));
  let_streams_run();
  CHECK(passed.times() == 1);  // the wait has consumed the record
  REQUIRE(aclrtRecordNotify(notify, recording) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(waiting) == ACL_SUCCESS);
  CHECK(passed.times() == 2);

  // Records without a wait are kept, but only one.
  for (int i = 0; i < 3; ++i) REQUIRE(aclrtRecordNotify(notify, recording) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(recording) == ACL_SUCCESS);
  REQUIRE(aclrtWaitAndResetNotify(notify, waiting, 0) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(waiting) == ACL_SUCCESS);
  REQUIRE(aclrtWaitAndResetNotify(notify, waiting, 1) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(waiting) == ACL_ERROR_RT_WAIT_TIMEOUT);
  CHECK(aclrtSynchronizeStream(waiting) == ACL_SUCCESS);
}

TEST_CASE("notifies have unique numbers, and invalid ones are refused") {
  const Session session;
  std::set<uint32_t> ids;
  aclrtNotify gone = nullptr;
  {
    const OwnNotify first, second;
    for (const aclrtNotify notify : {aclrtNotify(first), aclrtNotify(second)}) {
      uint32_t id = 0;
      CHECK(aclrtGetNotifyId(notify, &id) == ACL_SUCCESS);
      ids.insert(id);
    }
    gone = first;
  }
  CHECK(ids.size() == 2);
  uint32_t id = 0;
  CHECK(aclrtGetNotifyId(gone, &id) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtRecordNotify(gone, nullptr) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtWaitAndResetNotify(nullptr, nullptr, 0) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtDestroyNotify(gone) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtCreateNotify(nullptr, 0) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtCreateNotify(&gone, 7) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("a stream waits until memory has the value that another stream writes") {
  const Session session;
  const OwnStream waiting, writing;
  struct Case {
    uint32_t flag;
    uint64_t value, before, after;
  };
  const Case cases[] = {
      {ACL_STREAM_WAIT_VALUE_GEQ, 5, 4, 6},
      {ACL_STREAM_WAIT_VALUE_GEQ, 1, UINT64_MAX, 1},  // a counter that has wrapped around
      {ACL_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
      {ACL_STREAM_WAIT_VALUE_AND, 6, 9, 4},
      {ACL_STREAM_WAIT_VALUE_NOR, 3, ~uint64_t{3}, 0},
  };
  uint64_t* memory = nullptr;
  REQUIRE(aclrtMalloc(reinterpret_cast<void**>(&memory), 16, ACL_MEM_MALLOC_HUGE_FIRST) ==
          ACL_SUCCESS);
  for (const Case& each : cases) {
    CAPTURE(each.flag, each.value);
    Passed passed(waiting);
    *memory = each.before;
    REQUIRE(aclrtValueWait(memory, each.value, each.flag, waiting) == ACL_SUCCESS);
    passed.mark();
    let_streams_run();
    CHECK(passed.times() == 0);
    REQUIRE(aclrtValueWrite(memory, each.after, 0, writing) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(waiting) == ACL_SUCCESS);
    CHECK(passed.times() == 1);
    CHECK(*memory == each.after);
  }
  char* const odd = reinterpret_cast<char*>(memory) + 4;
  CHECK(aclrtValueWrite(odd, 1, 0, writing) == ACL_ERROR_RT_ADDR_UNALIGNED);
  CHECK(aclrtValueWait(odd, 1, 0, writing) == ACL_ERROR_RT_ADDR_UNALIGNED);
  CHECK(aclrtValueWrite(memory, 1, 1, writing) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtValueWait(memory, 1, 4, writing) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtValueWait(nullptr, 1, 0, writing) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtFree(memory) == ACL_SUCCESS);
}

TEST_CASE("an aborted stream drops its waiting tasks and can be used again") {
  const Session session;
  const OwnStream stream;
  const OwnNotify never;
  const OwnEvent event;
  alignas(8) uint64_t value = 0;
  Passed passed(stream);
  for (const int kind : {0, 1, 2}) {
    CAPTURE(kind);
    if (kind == 0) REQUIRE(aclrtWaitAndResetNotify(never, stream, 0) == ACL_SUCCESS);
    if (kind == 1) REQUIRE(aclrtValueWait(&value, 1, ACL_STREAM_WAIT_VALUE_EQ, stream) == 0);
    if (kind == 2) REQUIRE(aclrtStreamWaitEvent(stream, event) == ACL_SUCCESS);
    for (int i = 0; i < 5; ++i) passed.mark();
    CHECK(aclrtStreamAbort(stream) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(passed.times() == kind);
    passed.mark();
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(passed.times() == kind + 1);
  }
  // The abandoned wait consumes no later record.
  REQUIRE(aclrtRecordNotify(never, stream) == ACL_SUCCESS);
  REQUIRE(aclrtWaitAndResetNotify(never, stream, 1) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);

  aclrtContext context = nullptr;
  REQUIRE(aclrtGetCurrentContext(&context) == ACL_SUCCESS);
  aclError inside = ACL_SUCCESS;
  auto abort_itself = [&] {
    aclrtSetCurrentContext(context);
    inside = aclrtStreamAbort(stream);
  };
  REQUIRE(on_stream(stream, abort_itself) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(inside == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtStreamAbort(nullptr) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("a stream that stops on failure drops later tasks and keeps the error") {
  const Session session;
  const OwnStream stream;
  const OwnEvent never;
  Passed passed(stream);
  REQUIRE(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE) == ACL_SUCCESS);
  passed.mark();
  REQUIRE(aclrtStreamWaitEventWithTimeout(stream, never, 5) == ACL_SUCCESS);
  passed.mark();
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_WAIT_TIMEOUT);
  passed.mark();
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_WAIT_TIMEOUT);
  CHECK(passed.times() == 1);
  SECTION("until the mode is reset") {
    CHECK(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE) == ACL_SUCCESS);
  }
  SECTION("until it is aborted") {
    CHECK(aclrtStreamAbort(stream) == ACL_SUCCESS);
  }
  passed.mark();
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(passed.times() == 2);

  CHECK(aclrtSetStreamFailureMode(stream, 2) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtSetStreamFailureMode(nullptr, ACL_STOP_ON_FAILURE) == ACL_ERROR_INVALID_PARAM);
  aclrtStream own = nullptr;
  REQUIRE(aclrtCtxGetCurrentDefaultStream(&own) == ACL_SUCCESS);
  CHECK(aclrtSetStreamFailureMode(own, ACL_STOP_ON_FAILURE) == ACL_ERROR_RT_PARAM_INVALID);
}

TEST_CASE("the default stream has a handle, and priorities a range") {
  aclrtStream own = nullptr;
  CHECK(aclrtCtxGetCurrentDefaultStream(&own) != ACL_SUCCESS);
  const Session session;
  REQUIRE(aclrtCtxGetCurrentDefaultStream(&own) == ACL_SUCCESS);
  REQUIRE(own != nullptr);
  Passed passed(own);
  passed.mark();
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(passed.times() == 1);
  CHECK(aclrtDestroyStream(own) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtCtxGetCurrentDefaultStream(nullptr) == ACL_ERROR_INVALID_PARAM);
  int32_t least = -1, greatest = -1;
  CHECK(aclrtDeviceGetStreamPriorityRange(&least, &greatest) == ACL_SUCCESS);
  CHECK(least == 7);
  CHECK(greatest == 0);
  CHECK(aclrtDeviceGetStreamPriorityRange(nullptr, &greatest) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("a process can limit its cores, and a device reports its health") {
  const Session session;
  uint32_t cores = 0;
  CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &cores) == ACL_SUCCESS);
  CHECK(cores == 1);
  CHECK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 12) == ACL_SUCCESS);
  CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &cores) == ACL_SUCCESS);
  CHECK(cores == 12);
  for (const auto& [device, type] :
       {std::pair{0, ACL_RT_DEV_RES_VECTOR_CORE}, std::pair{1, ACL_RT_DEV_RES_CUBE_CORE}}) {
    CHECK(aclrtGetDeviceResLimit(device, type, &cores) == ACL_SUCCESS);
    CHECK(cores == 1);
  }
  CHECK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 0) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtSetDeviceResLimit(99, ACL_RT_DEV_RES_CUBE_CORE, 1) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtResetDeviceResLimit(0) == ACL_SUCCESS);
  CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &cores) == ACL_SUCCESS);
  CHECK(cores == 1);

  aclrtErrorInfo broken;
  std::memset(&broken, 0xFF, sizeof broken);
  CHECK(aclrtGetErrorVerbose(0, &broken) == ACL_SUCCESS);
  CHECK(broken.errorType == ACL_RT_NO_ERROR);
  CHECK(broken.hasDetail == 0);
  CHECK(aclrtGetErrorVerbose(-1, &broken) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtGetErrorVerbose(0, nullptr) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("memory reports its location, and the application's own can be registered") {
  const Session session(3);
  std::vector<char> own(4096);
  void *device = nullptr, *host = nullptr, *seen = nullptr;
  REQUIRE(aclrtMalloc(&device, 100, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  aclrtMallocAttribute attribute = {};
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  aclrtMallocConfig config = {&attribute, 1};
  REQUIRE(aclrtMallocHostWithCfg(&host, 100, &config) == ACL_SUCCESS);
  CHECK(read_attributes(static_cast<char*>(device) + 99).location.type ==
        ACL_MEM_LOCATION_TYPE_DEVICE);
  CHECK(read_attributes(device).location.id == 3);
  CHECK(read_attributes(device).pageSize == static_cast<uint32_t>(sysconf(_SC_PAGESIZE)));
  CHECK(read_attributes(host).location.type == ACL_MEM_LOCATION_TYPE_HOST);
  CHECK(read_attributes(own.data()).location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  CHECK(aclrtPointerGetAttributes(nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);

  REQUIRE(aclrtHostRegister(own.data(), own.size(), ACL_HOST_REGISTER_MAPPED, &seen) ==
          ACL_SUCCESS);
  CHECK(seen == own.data());
  CHECK(read_attributes(own.data() + 4095).location.type == ACL_MEM_LOCATION_TYPE_HOST);
  for (const auto& [begin, size] :
       {std::pair{own.data(), own.size()}, std::pair{own.data() + 100, size_t{10}},
        std::pair{static_cast<char*>(device), size_t{100}}}) {
    CHECK(aclrtHostRegister(begin, size, ACL_HOST_REGISTER_MAPPED, &seen) ==
          ACL_ERROR_RT_PARAM_INVALID);
  }
  CHECK(aclrtHostRegister(own.data(), 0, ACL_HOST_REGISTER_MAPPED, &seen) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtFreeHost(own.data()) == ACL_ERROR_RT_PARAM_INVALID);  // owned by the application
  CHECK(aclrtHostUnregister(host) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtHostUnregister(own.data()) == ACL_SUCCESS);
  CHECK(aclrtHostUnregister(own.data()) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(read_attributes(own.data()).location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);

  config.attrs = nullptr;
  void* none = nullptr;
  CHECK(aclrtMallocHostWithCfg(&none, 100, &config) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMallocHostWithCfg(&none, 100, nullptr) == ACL_SUCCESS);
  CHECK(aclrtFreeHost(none) == ACL_SUCCESS);
  CHECK(aclrtFreeHost(host) == ACL_SUCCESS);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}

TEST_CASE("a batch of copies is done completely, or the wrong one is reported") {
  const Session session;
  char text[] = "abcdef", back[] = "------";
  char* device = nullptr;
  REQUIRE(aclrtMalloc(reinterpret_cast<void**>(&device), 8, ACL_MEM_MALLOC_HUGE_FIRST) ==
          ACL_SUCCESS);
  const aclrtMemLocation on_host = {0, ACL_MEM_LOCATION_TYPE_HOST};
  const aclrtMemLocation on_device = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  // Two copies to the device, one back.
  void* to[] = {device, device + 2, back};
  void* from[] = {text + 4, text, device};
  size_t sizes[] = {2, 2, 4}, room[] = {2, 6, 6}, first[] = {0, 2}, failed = 0;
  aclrtMemcpyBatchAttr attributes[2] = {};
  attributes[0].dstLoc = on_device;
  attributes[0].srcLoc = on_host;
  attributes[1].dstLoc = on_host;
  attributes[1].srcLoc = on_device;
  const OwnStream stream;
  const auto copy = [&](size_t count, size_t attribute_count) {
    return aclrtMemcpyBatch(to, room, from, sizes, count, attributes, first, attribute_count,
                            &failed);
  };
  CHECK(copy(3, 2) == ACL_SUCCESS);
  CHECK(failed == SIZE_MAX);
  CHECK(std::string(back) == "efab--");
  std::memcpy(back, "------", 6);
  CHECK(aclrtMemcpyBatchAsync(to, room, from, sizes, 3, attributes, first, 2, &failed, stream) ==
        ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(std::string(back) == "efab--");

  std::memcpy(text, "xyzxyz", 6);
  CHECK(copy(3, 1) == ACL_ERROR_RT_PARAM_INVALID);  // the last copy is not to the device
  CHECK(failed == 2);
  room[1] = 1;
  CHECK(copy(3, 2) == ACL_ERROR_INVALID_PARAM);
  CHECK(failed == 1);
  CHECK(std::string(device, 4) == "efab");  // nothing was copied
  CHECK(copy(0, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(failed == SIZE_MAX);
  first[0] = 1;
  CHECK(copy(3, 2) == ACL_ERROR_INVALID_PARAM);
  first[0] = 0;
  first[1] = 3;
  CHECK(copy(3, 2) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemcpyBatch(to, room, from, sizes, 3, nullptr, first, 1, &failed) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
}
