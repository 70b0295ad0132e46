// Streams: order, concurrency, events, callbacks, waiting, destruction.
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "acl/capture.hpp"
#include "acl/device_fixture.hpp"
#include "support/eventually.hpp"

using namespace msprof::acl::test;
using msprof::test::eventually;
using msprof::test::kAmpleSeconds;
using msprof::test::kHangLimit;

#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_handle_no_return();
#endif

namespace {

void forget_frames() {
#ifdef __SANITIZE_ADDRESS__
  __asan_handle_no_return();
#endif
}

// Opened once by the test; tasks wait for it.
class Gate {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return opened_.wait_for(lock, kHangLimit, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

// A barrier for `expected` tasks: all of them must run at the same time.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  void operator()() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    all_.notify_all();
    if (!all_.wait_for(lock, kHangLimit, [this] { return arrived_ == expected_; })) {
      failed = true;
    }
  }
  std::atomic<bool> failed{false};

 private:
  const int expected_;
  std::mutex mutex_;
  std::condition_variable all_;
  int arrived_ = 0;
};

struct Step {
  std::vector<int>* order;
  int number;
};

void note(void* argument) {
  const Step& step = *static_cast<Step*>(argument);
  step.order->push_back(step.number);
}

}  // namespace

TEST_CASE("tasks of a stream run in the order of their launches, of any kind") {
  const Session session;
  const OwnStream stream;
  std::vector<int> order;
  std::vector<Step> steps;
  // More than the queue holds: the launching thread must wait for space.
  constexpr int kTasks = 5000;
  for (int i = 0; i < kTasks; ++i) steps.push_back({&order, i});
  for (Step& step : steps) REQUIRE(aclrtLaunchHostFunc(stream, note, &step) == ACL_SUCCESS);
  int copied = 0;
  const int one = 1;
  REQUIRE(aclrtMemcpyAsync(&copied, 4, &one, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  REQUIRE(order.size() == kTasks);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK(copied == 1);
}

TEST_CASE("a launch returns while its task still waits") {
  const Session session;
  const OwnStream stream;
  Gate gate;
  auto wait = [&gate] { gate.wait(); };
  REQUIRE(on_stream(stream, wait) == ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  CHECK(aclrtStreamQuery(stream, &status) == ACL_SUCCESS);
  CHECK(status == ACL_STREAM_STATUS_NOT_READY);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, 10) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  CHECK(aclrtSynchronizeDeviceWithTimeout(10) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.open();
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, kAmpleSeconds * 1000) == ACL_SUCCESS);
  CHECK(aclrtStreamQuery(stream, &status) == ACL_SUCCESS);
  CHECK(status == ACL_STREAM_STATUS_COMPLETE);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, -2) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("eight streams of two devices run at once") {
  const Session session(0);
  Meeting meeting(8);
  std::vector<aclrtStream> streams(8);
  int device_of_next = 0;
  for (aclrtStream& stream : streams) {
    REQUIRE(aclrtSetDevice(device_of_next) == ACL_SUCCESS);
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    REQUIRE(on_stream(stream, meeting) == ACL_SUCCESS);
    device_of_next = 1 - device_of_next;
  }
  for (int device = 0; device < 2; ++device) {
    REQUIRE(aclrtSetDevice(device) == ACL_SUCCESS);
    CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  }
  CHECK_FALSE(meeting.failed);
}

TEST_CASE("streams have numbers from 0 for each device, and free ones are reused") {
  const Session session(1);
  int32_t id = -1;
  CHECK(aclrtStreamGetId(nullptr, &id) == ACL_SUCCESS);
  CHECK(id == 0);
  std::set<int32_t> ids;
  std::vector<aclrtStream> streams(20);
  for (aclrtStream& stream : streams) {
    REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
    REQUIRE(aclrtStreamGetId(stream, &id) == ACL_SUCCESS);
    ids.insert(id);
  }
  CHECK(ids.size() == 20);
  CHECK(*ids.rbegin() == 20);
  REQUIRE(aclrtDestroyStream(streams[4]) == ACL_SUCCESS);
  REQUIRE(aclrtCreateStream(&streams[4]) == ACL_SUCCESS);
  CHECK(aclrtStreamGetId(streams[4], &id) == ACL_SUCCESS);
  CHECK(id == 5);
}

TEST_CASE("a device has at most 2048 streams") {
  const Session session;
  const CapturedStderr quiet;
  std::vector<aclrtStream> streams;
  aclrtStream stream = nullptr;
  aclError code = ACL_SUCCESS;
  while (streams.size() < 3000 && (code = aclrtCreateStream(&stream)) == ACL_SUCCESS) {
    streams.push_back(stream);
  }
  CHECK(code == ACL_ERROR_RT_NO_STREAM_RESOURCE);
  CHECK(streams.size() == 2047);  // besides the default stream
  for (const aclrtStream made : streams) REQUIRE(aclrtDestroyStream(made) == ACL_SUCCESS);
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
}

TEST_CASE("streams created and destroyed by many threads leave none") {
  const Session session;
  std::atomic<int> ran{0}, failed{0};
  auto count = [&ran] { ++ran; };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      if (aclrtSetDevice(0) != ACL_SUCCESS) ++failed;
      for (int i = 0; i < 100; ++i) {
        aclrtStream stream = nullptr;
        if (aclrtCreateStream(&stream) != ACL_SUCCESS) ++failed;
        if (on_stream(stream, count) != ACL_SUCCESS) ++failed;
        if (aclrtDestroyStream(stream) != ACL_SUCCESS) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  CHECK(ran == 400);  // destroying waits for launched work
  const OwnStream stream;
  int32_t id = 0;
  CHECK(aclrtStreamGetId(stream, &id) == ACL_SUCCESS);
  CHECK(id == 1);
}

TEST_CASE("invalid, destroyed and foreign handles are refused") {
  const Session session;
  aclrtStream stream = nullptr, elsewhere = nullptr;
  aclrtContext context = nullptr, of_device = nullptr;
  REQUIRE(aclrtGetCurrentContext(&of_device) == ACL_SUCCESS);
  REQUIRE(aclrtCreateContext(&context, 0) == ACL_SUCCESS);
  REQUIRE(aclrtCreateStream(&elsewhere) == ACL_SUCCESS);
  REQUIRE(aclrtSetCurrentContext(of_device) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(elsewhere) == ACL_ERROR_RT_STREAM_CONTEXT);
  REQUIRE(aclrtDestroyContext(context) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(elsewhere) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtSynchronizeStream(&stream) == ACL_ERROR_RT_INVALID_HANDLE);
  REQUIRE(aclrtCreateStream(&stream) == ACL_SUCCESS);
  REQUIRE(aclrtDestroyStream(stream) == ACL_SUCCESS);
  CHECK(aclrtDestroyStream(stream) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtDestroyStream(nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtLaunchHostFunc(nullptr, nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtRecordEvent(&stream, nullptr) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtRecordEvent(nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtCreateStream(nullptr) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("two streams that wait for each other's events alternate") {
  const Session session;
  const OwnStream left, right;
  const OwnEvent first, second, third;
  std::vector<int> order;
  Step one{&order, 1}, two{&order, 2}, three{&order, 3};
  // Waits are launched before the records they wait for.
  REQUIRE(aclrtStreamWaitEvent(right, first) == ACL_SUCCESS);
  REQUIRE(aclrtLaunchHostFunc(right, note, &two) == ACL_SUCCESS);
  REQUIRE(aclrtRecordEvent(second, right) == ACL_SUCCESS);
  REQUIRE(aclrtLaunchHostFunc(left, note, &one) == ACL_SUCCESS);
  REQUIRE(aclrtRecordEvent(first, left) == ACL_SUCCESS);
  REQUIRE(aclrtStreamWaitEvent(left, second) == ACL_SUCCESS);
  REQUIRE(aclrtLaunchHostFunc(left, note, &three) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(order == std::vector<int>{1, 2, 3});
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_NOT_READY;
  CHECK(aclrtQueryEventWaitStatus(first, &waits) == ACL_SUCCESS);
  CHECK(waits == ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_CASE("an event is complete when its stream has passed it, and returns that time") {
  const Session session;
  const OwnStream stream;
  const OwnEvent start, end;
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  float ms = 0;
  CHECK(aclrtQueryEventStatus(start, &status) == ACL_SUCCESS);
  CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  CHECK(aclrtSynchronizeEvent(start) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtEventElapsedTime(&ms, start, end) == ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);

  Gate gate;
  auto wait = [&gate] { gate.wait(); };
  auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  REQUIRE(aclrtRecordEvent(start, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeEvent(start) == ACL_SUCCESS);
  REQUIRE(on_stream(stream, wait) == ACL_SUCCESS);
  REQUIRE(on_stream(stream, pause) == ACL_SUCCESS);
  REQUIRE(aclrtRecordEvent(end, stream) == ACL_SUCCESS);
  aclrtEventStatus old_status = ACL_EVENT_STATUS_COMPLETE;
  CHECK(aclrtQueryEvent(end, &old_status) == ACL_SUCCESS);
  CHECK(old_status == ACL_EVENT_STATUS_NOT_READY);
  CHECK(aclrtSynchronizeEventWithTimeout(end, 5) == ACL_ERROR_RT_WAIT_TIMEOUT);
  gate.open();
  CHECK(aclrtSynchronizeEventWithTimeout(end, kAmpleSeconds * 1000) == ACL_SUCCESS);
  CHECK(aclrtEventElapsedTime(&ms, start, end) == ACL_SUCCESS);
  CHECK(ms >= 20);
  uint64_t from = 0, to = 0;
  CHECK(aclrtEventGetTimestamp(start, &from) == ACL_SUCCESS);
  CHECK(aclrtEventGetTimestamp(end, &to) == ACL_SUCCESS);
  CHECK(static_cast<double>(to - from) == Approx(ms * 1000.0).margin(2));
  CHECK(aclrtResetEvent(end, stream) == ACL_SUCCESS);
  CHECK(aclrtQueryEventStatus(end, &status) == ACL_SUCCESS);
  CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

TEST_CASE("a wait that times out is an error of its stream, returned once") {
  const Session session;
  const OwnStream stream;
  const OwnEvent never;
  REQUIRE(aclrtStreamWaitEventWithTimeout(stream, never, 5) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_WAIT_TIMEOUT);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

TEST_CASE("an event for capture does not block before its first record") {
  const Session session;
  const OwnStream stream;
  aclrtEvent event = nullptr;
  REQUIRE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) == ACL_SUCCESS);
  CHECK(aclrtStreamWaitEvent(stream, event) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(aclrtDestroyEvent(event) == ACL_SUCCESS);
  CHECK(aclrtDestroyEvent(event) == ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_CASE("a stream that waits forever can be destroyed, and ends with its device") {
  REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  aclrtEvent never = nullptr, dropped = nullptr;
  aclrtStream forced = nullptr, reset = nullptr, ended = nullptr;
  bool ran = false;
  auto run = [&ran] { ran = true; };
  REQUIRE(aclrtCreateEvent(&never) == ACL_SUCCESS);
  REQUIRE(aclrtCreateEvent(&dropped) == ACL_SUCCESS);
  REQUIRE(aclrtCreateStream(&forced) == ACL_SUCCESS);
  REQUIRE(aclrtStreamWaitEvent(forced, never) == ACL_SUCCESS);
  REQUIRE(on_stream(forced, run) == ACL_SUCCESS);
  REQUIRE(aclrtRecordEvent(dropped, forced) == ACL_SUCCESS);
  CHECK(aclrtDestroyStreamForce(forced) == ACL_SUCCESS);
  CHECK_FALSE(ran);
  CHECK(aclrtSynchronizeEventWithTimeout(dropped, kAmpleSeconds * 1000) == ACL_SUCCESS);

  REQUIRE(aclrtCreateStream(&reset) == ACL_SUCCESS);
  REQUIRE(aclrtStreamWaitEvent(reset, never) == ACL_SUCCESS);
  REQUIRE(on_stream(reset, run) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
  CHECK(ran);  // launched tasks still run; only waits are abandoned

  ran = false;
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  REQUIRE(aclrtCreateStream(&ended) == ACL_SUCCESS);
  REQUIRE(aclrtStreamWaitEvent(ended, never) == ACL_SUCCESS);
  REQUIRE(on_stream(ended, run) == ACL_SUCCESS);
  CHECK(aclFinalize() == ACL_SUCCESS);
  CHECK(ran);
}

TEST_CASE("a function on a stream cannot wait for or destroy its own stream") {
  const Session session;
  const OwnStream stream;
  struct Inside {
    aclrtStream stream;
    aclError synchronize = 0, destroy = 0, finalize = 0, launch = 0;
  } inside{stream};
  REQUIRE(aclrtLaunchHostFunc(
              stream,
              [](void* argument) {
                Inside& in = *static_cast<Inside*>(argument);
                aclrtSetDevice(0);
                in.synchronize = aclrtSynchronizeStream(in.stream);
                in.destroy = aclrtDestroyStream(in.stream);
                in.finalize = aclFinalize();
                in.launch = aclrtLaunchHostFunc(
                    in.stream, [](void*) {}, nullptr);
              },
              &inside) == ACL_SUCCESS);
  const CapturedStderr quiet;
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(inside.synchronize == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(inside.destroy == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(inside.finalize == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(inside.launch == ACL_SUCCESS);
}

TEST_CASE("an exception of the application in a stream is its error, not the end of the process") {
  const Session session;
  const CapturedStderr captured;
  REQUIRE(aclrtLaunchHostFunc(
              nullptr, [](void*) { throw std::runtime_error("mine"); }, nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_ERROR_RT_INTERNAL_ERROR);
  REQUIRE(aclrtLaunchHostFunc(
              nullptr, [](void*) { throw 7; }, nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_ERROR_RT_INTERNAL_ERROR);
  CHECK(captured.text().find("mine") != std::string::npos);
}

TEST_CASE("a thread that waits forever for reports can be cancelled, and its stream continues") {
  const Session session;
  const OwnStream stream;
  std::atomic<bool> waits{false};
  const auto body = [](void* argument) -> void* {
    // Cancellation leaves frames without returning: ASan must forget them.
    pthread_cleanup_push([](void*) { forget_frames(); }, nullptr);
    static_cast<std::atomic<bool>*>(argument)->store(true);
    for (;;) aclrtProcessReport(-1);
    pthread_cleanup_pop(0);
    return nullptr;
  };
  pthread_t reporter{};
  REQUIRE(pthread_create(&reporter, nullptr, body, &waits) == 0);
  REQUIRE(aclrtSubscribeReport(static_cast<uint64_t>(reporter), stream) == ACL_SUCCESS);
  REQUIRE(eventually([&] { return waits.load(); }));
  std::atomic<int> runs{0};
  const auto count = [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); };
  REQUIRE(aclrtLaunchCallback(count, &runs, ACL_CALLBACK_BLOCK, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(runs == 1);
  REQUIRE(pthread_cancel(reporter) == 0);
  void* result = nullptr;
  REQUIRE(pthread_join(reporter, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
  REQUIRE(aclrtUnSubscribeReport(static_cast<uint64_t>(reporter), stream) == ACL_SUCCESS);
  auto after = [&runs] { ++runs; };
  REQUIRE(on_stream(stream, after) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(runs == 2);
}

TEST_CASE("a thread of a program in C that waits for reports can be cancelled") {
  // Uses the shared library, which contains its own unwinder.
  const auto result = msprof::test::run_program(msprof::test::acl_program("cancelled"), {});
  INFO(result.err);
  CHECK(result.out == "cancelled 1\nunsubscribed 0\nfinalised 0\n");
}

TEST_CASE("callbacks run in the thread that subscribed, and a blocking one holds its stream") {
  const Session session;
  const OwnStream stream;
  aclrtContext context = nullptr;
  REQUIRE(aclrtGetCurrentContext(&context) == ACL_SUCCESS);
  CHECK(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream) ==
        ACL_ERROR_STREAM_NOT_SUBSCRIBE);
  CHECK(aclrtProcessReport(1) == ACL_ERROR_THREAD_NOT_SUBSCRIBE);

  std::atomic<bool> stop{false};
  std::atomic<int> timeouts{0};
  std::thread reporter([&] {
    while (!stop) {
      if (aclrtProcessReport(5) == ACL_ERROR_WAIT_CALLBACK_TIMEOUT) ++timeouts;
    }
  });
  const auto thread = static_cast<uint64_t>(reporter.native_handle());
  REQUIRE(aclrtSubscribeReport(thread, stream) == ACL_SUCCESS);
  CHECK(aclrtSubscribeReport(thread, stream) == ACL_ERROR_REPEAT_SUBSCRIBE);
  CHECK(eventually([&] { return timeouts > 0; }));

  struct Seen {
    pthread_t thread{};
    int value = 0, copied = 0;
  } seen;
  const int seven = 7;
  const auto callback = [](void* argument) {
    Seen& in = *static_cast<Seen*>(argument);
    in.thread = pthread_self();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    in.value = 1;
  };
  REQUIRE(aclrtLaunchCallback(callback, &seen, ACL_CALLBACK_BLOCK, stream) == ACL_SUCCESS);
  auto look = [&seen] { seen.copied = seen.value; };
  REQUIRE(on_stream(stream, look) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(seen.copied == 1);
  CHECK(pthread_equal(seen.thread, reporter.native_handle()));

  Gate gate;
  const auto wait = [](void* argument) { static_cast<Gate*>(argument)->wait(); };
  int after = 0;
  REQUIRE(aclrtLaunchCallback(wait, &gate, ACL_CALLBACK_NO_BLOCK, stream) == ACL_SUCCESS);
  REQUIRE(aclrtMemcpyAsync(&after, 4, &seven, 4, ACL_MEMCPY_HOST_TO_HOST, stream) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(after == 7);
  gate.open();

  CHECK(aclrtUnSubscribeReport(thread + 1, stream) == ACL_ERROR_THREAD_NOT_SUBSCRIBE);
  CHECK(aclrtUnSubscribeReport(thread, stream) == ACL_SUCCESS);
  CHECK(aclrtUnSubscribeReport(thread, stream) == ACL_ERROR_STREAM_NOT_SUBSCRIBE);
  stop = true;
  reporter.join();
}

TEST_CASE("a blocking callback that is never run is released when its thread unsubscribes") {
  const Session session;
  const OwnStream stream;
  const auto self = static_cast<uint64_t>(pthread_self());
  REQUIRE(aclrtSubscribeReport(self, stream) == ACL_SUCCESS);
  REQUIRE(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, 20) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  CHECK(aclrtUnSubscribeReport(self, stream) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStreamWithTimeout(stream, kAmpleSeconds * 1000) == ACL_SUCCESS);
}

TEST_CASE("threads that launch on one stream concurrently lose no tasks") {
  const Session session;
  const OwnStream stream;
  aclrtContext context = nullptr;
  REQUIRE(aclrtGetCurrentContext(&context) == ACL_SUCCESS);
  int ran = 0;  // accessed only by the stream's thread
  auto count = [&ran] { ++ran; };
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      if (aclrtSetCurrentContext(context) != ACL_SUCCESS) ++failed;
      for (int i = 0; i < 1000; ++i) {
        if (on_stream(stream, count) != ACL_SUCCESS) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(failed == 0);
  CHECK(ran == 4000);
}

TEST_CASE("a stream keeps its initial configuration") {
  const Session session;
  aclrtStreamConfigHandle* handle = aclrtCreateStreamConfigHandle();
  REQUIRE(handle != nullptr);
  const uint32_t wanted = 3;
  const size_t flag = ACL_STREAM_FAST_SYNC;
  CHECK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &wanted, sizeof wanted) ==
        ACL_SUCCESS);
  CHECK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, sizeof flag) == ACL_SUCCESS);
  CHECK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, 1) == ACL_ERROR_INVALID_PARAM);
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStreamV2(&stream, handle) == ACL_SUCCESS);
  uint32_t priority = 0, flags = 0;
  CHECK(aclrtStreamGetPriority(stream, &priority) == ACL_SUCCESS);
  CHECK(aclrtStreamGetFlags(stream, &flags) == ACL_SUCCESS);
  CHECK(priority == 3);
  CHECK(flags == ACL_STREAM_FAST_SYNC);
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  CHECK(aclrtDestroyStreamConfigHandle(handle) == ACL_SUCCESS);
}
