// Initialization and finalization, devices, contexts, memory; effects of fork, and of exiting
// without finalization.
#include <sys/wait.h>

#include <cstring>
#include <thread>

#include "acl/device_fixture.hpp"
#include "runtime/acl/device/lookup.hpp"

using namespace msprof::acl::test;

// Sanitizers abort on such a request; TSan also aborts if a forked child creates a thread.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHugeRequestsFail = false;
#else
constexpr bool kHugeRequestsFail = true;
#endif
#ifdef __SANITIZE_THREAD__
constexpr bool kChildrenHaveThreads = false;
#else
constexpr bool kChildrenHaveThreads = true;
#endif

namespace {

// Returns the exit code of a forked child that runs `body`.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("repeated aclInit and aclFinalize are refused, and a second round is possible") {
  // A child process counts as uninitialized.
  CHECK(in_child([] { return aclFinalize() == ACL_ERROR_UNINITIALIZE ? 0 : 1; }) == 0);
  for (int round = 0; round < 2; ++round) {
    CHECK(aclInit(nullptr) == ACL_SUCCESS);
    CHECK(aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
    CHECK(aclFinalize() == ACL_SUCCESS);
    CHECK(aclFinalize() == ACL_ERROR_REPEAT_FINALIZE);
  }
}

TEST_CASE("before aclInit every call that needs it returns 100001") {
  aclrtStream stream = nullptr;
  aclrtContext context = nullptr;
  void* memory = nullptr;
  uint32_t model = 0;
  aclrtRunMode mode = ACL_DEVICE;
  CHECK(aclrtSetDevice(0) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclrtCreateContext(&context, 0) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclrtCreateStream(&stream) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclrtGetRunMode(&mode) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclmdlLoadFromMem("{}", 2, &model) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclmdlUnload(1) == ACL_ERROR_UNINITIALIZE);
  CHECK(aclrtProcessReport(1) == ACL_ERROR_UNINITIALIZE);
}

TEST_CASE("a thread without a device has no context") {
  REQUIRE(aclInit(nullptr) == ACL_SUCCESS);
  aclrtStream stream = nullptr;
  void* memory = nullptr;
  int32_t device = -1;
  uint32_t model = 0;
  const std::string text = tiny_model();
  CHECK(aclrtCreateStream(&stream) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtSynchronizeDevice() == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclmdlLoadFromMem(text.data(), text.size(), &model) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtResetDevice(0) == ACL_ERROR_RT_CONTEXT_NULL);
  REQUIRE(aclrtSetDevice(0) == ACL_SUCCESS);
  std::thread([&] { CHECK(aclrtCreateStream(&stream) == ACL_ERROR_RT_CONTEXT_NULL); }).join();
  CHECK(aclFinalize() == ACL_SUCCESS);
}

TEST_CASE("MSPROF_HOST_DEVICES sets the number of devices") {
  const auto count_with = [](const char* value) {
    return in_child([&] {
      if (value == nullptr) {
        unsetenv("MSPROF_HOST_DEVICES");
      } else {
        setenv("MSPROF_HOST_DEVICES", value, 1);
      }
      const CapturedStderr quiet;
      uint32_t count = 0;
      if (aclInit(nullptr) != ACL_SUCCESS || aclrtGetDeviceCount(&count) != ACL_SUCCESS) return 200;
      if (aclrtSetDevice(static_cast<int32_t>(count)) != ACL_ERROR_RT_INVALID_DEVICEID) return 201;
      if (aclrtSetDevice(static_cast<int32_t>(count) - 1) != ACL_SUCCESS) return 202;
      const bool said = quiet.text().find("MSPROF_HOST_DEVICES must be") != std::string::npos;
      return static_cast<int>(count) + (said ? 100 : 0);
    });
  };
  CHECK(count_with(nullptr) == 8);
  CHECK(count_with("1") == 1);
  CHECK(count_with("64") == 64);
  CHECK(count_with("0") == 108);
  CHECK(count_with("65") == 108);
  CHECK(count_with("two") == 108);
}

TEST_CASE("an invalid device number is refused with 107001 and a message") {
  const Session session;
  const CapturedStderr captured;
  aclrtContext context = nullptr;
  CHECK(aclrtSetDevice(-1) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtSetDevice(8) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtCreateContext(&context, 8) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(captured.text().find("no device 8") != std::string::npos);
}

TEST_CASE("aclrtResetDevice ends a device with the last of its aclrtSetDevice") {
  const Session session(2);
  int32_t device = -1;
  REQUIRE(aclrtSetDevice(2) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(2) == ACL_SUCCESS);
  CHECK(aclrtGetDevice(&device) == ACL_SUCCESS);
  CHECK(device == 2);
  CHECK(aclrtResetDevice(2) == ACL_SUCCESS);
  CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
  REQUIRE(aclrtSetDevice(2) == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice(2) == ACL_SUCCESS);
  CHECK(aclrtResetDeviceForce(2) == ACL_SUCCESS);
  CHECK(aclrtGetDevice(&device) == ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_CASE("contexts belong to threads, and one destroyed elsewhere is detected") {
  const Session session(0);
  aclrtContext first = nullptr, second = nullptr, current = nullptr, of_device = nullptr;
  REQUIRE(aclrtGetCurrentContext(&of_device) == ACL_SUCCESS);
  REQUIRE(aclrtCreateContext(&first, 0) == ACL_SUCCESS);
  REQUIRE(aclrtCreateContext(&second, 3) == ACL_SUCCESS);
  CHECK(aclrtGetCurrentContext(&current) == ACL_SUCCESS);
  CHECK(current == second);
  int32_t device = -1;
  std::thread([&] {
    CHECK(aclrtSetCurrentContext(first) == ACL_SUCCESS);
    CHECK(aclrtGetDevice(&device) == ACL_SUCCESS);
    CHECK(device == 0);
    CHECK(aclrtDestroyContext(second) == ACL_SUCCESS);
  }).join();
  CHECK(aclrtGetCurrentContext(&current) == ACL_ERROR_RT_CONTEXT_NULL);
  CHECK(aclrtSetCurrentContext(second) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtDestroyContext(second) == ACL_ERROR_RT_INVALID_HANDLE);
  CHECK(aclrtDestroyContext(of_device) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtSetCurrentContext(of_device) == ACL_SUCCESS);
}

TEST_CASE("memory is aligned, counted, and freed once by the matching function") {
  const Session session;
  void *device = nullptr, *host = nullptr;
  REQUIRE(aclrtMalloc(&device, 1000, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS);
  REQUIRE(aclrtMallocHost(&host, 10) == ACL_SUCCESS);
  CHECK(reinterpret_cast<uintptr_t>(device) % 64 == 0);
  CHECK(aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_INVALID_PARAM);
  if (kHugeRequestsFail) {
    CHECK(aclrtMalloc(&device, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_ERROR_BAD_ALLOC);
  }
  CHECK(aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtFree(host) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtFreeHost(device) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtFree(device) == ACL_SUCCESS);
  CHECK(aclrtFree(device) == ACL_ERROR_RT_PARAM_INVALID);
  CHECK(aclrtFreeHost(host) == ACL_SUCCESS);
  size_t free = 0, total = 0;
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS);
  CHECK(free > 0);
  CHECK(free <= total);
  CHECK(aclrtGetMemInfo(static_cast<aclrtMemAttr>(31), &free, &total) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("a device returns the attributes known on a host and refuses others") {
  const Session session;
  int64_t value = 0;
  for (const aclrtDevAttr cores : {ACL_DEV_ATTR_AICPU_CORE_NUM, ACL_DEV_ATTR_AICORE_CORE_NUM,
                                   ACL_DEV_ATTR_CUBE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM}) {
    CHECK(aclrtGetDeviceInfo(7, cores, &value) == ACL_SUCCESS);
    CHECK(value == 1);
  }
  size_t free = 0, total = 0;
  REQUIRE(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS);
  CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value) == ACL_SUCCESS);
  CHECK(static_cast<size_t>(value) == total);
  const bool has_cache = sysconf(_SC_LEVEL2_CACHE_SIZE) > 0;
  const aclError of_cache = has_cache ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_L2_CACHE_SIZE, &value) == of_cache);
  CHECK((value == sysconf(_SC_LEVEL2_CACHE_SIZE)) == has_cache);
  for (const aclrtDevAttr none : {ACL_DEV_ATTR_WARP_SIZE, ACL_DEV_ATTR_PHY_CHIP_ID,
                                  ACL_DEV_ATTR_IS_VIRTUAL, ACL_DEV_ATTR_NPU_ARCH})
    CHECK(aclrtGetDeviceInfo(0, none, &value) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  CHECK(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(999), &value) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetDeviceInfo(99, ACL_DEV_ATTR_CUBE_CORE_NUM, &value) ==
        ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_CUBE_CORE_NUM, nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value) == ACL_SUCCESS);
  CHECK(value == 1);
  CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value) == of_cache);
  CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value) == ACL_ERROR_INVALID_PARAM);
}

TEST_CASE("the last error is that of the thread's last failed call, until it is read") {
  const Session session;
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
  CHECK(aclrtSetDevice(99) == ACL_ERROR_RT_INVALID_DEVICEID);
  CHECK(aclrtFree(nullptr) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);  // does not clear the error
  aclError elsewhere = -1;
  std::thread([&] { elsewhere = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL); }).join();
  CHECK(elsewhere == ACL_SUCCESS);
  CHECK(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetLastError(static_cast<aclrtLastErrLevel>(1)) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
  CHECK(aclrtSetOpWaitTimeout(1) == ACL_ERROR_API_NOT_SUPPORT);
  CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_API_NOT_SUPPORT);
}

TEST_CASE("copies and fills check their sizes before accessing memory") {
  const Session session;
  char from[8] = "abcdefg", to[8] = {};
  CHECK(aclrtMemcpy(to, 4, from, 8, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemcpyAsync(to, 4, from, 8, ACL_MEMCPY_DEVICE_TO_HOST, nullptr) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemcpy(nullptr, 8, from, 8, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemset(to, 4, 1, 8) == ACL_ERROR_INVALID_PARAM);
  CHECK(to[0] == 0);
  CHECK(aclrtMemcpy(to, 8, from, 8, ACL_MEMCPY_DEFAULT) == ACL_SUCCESS);
  CHECK(std::memcmp(to, from, 8) == 0);
  CHECK(aclrtMemset(to, 8, 'x', 3) == ACL_SUCCESS);
  CHECK(std::string(to) == "xxxdefg");
  CHECK(aclrtMemsetAsync(to, 8, 'y', 2, nullptr) == ACL_SUCCESS);
  CHECK(aclrtMemcpyAsync(to + 2, 6, "z", 1, ACL_MEMCPY_HOST_TO_DEVICE, nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  CHECK(std::string(to) == "yyzdefg");
}

TEST_CASE("a rectangle is copied row by row, and nothing outside it") {
  const Session session;
  const std::string from = "abc.def.ghi.";
  std::string to(10, '-');
  CHECK(aclrtMemcpy2d(to.data(), 5, from.data(), 4, 6, 2, ACL_MEMCPY_HOST_TO_HOST) ==
        ACL_ERROR_INVALID_PARAM);
  CHECK(aclrtMemcpy2d(to.data(), 5, from.data(), 4, 3, 2, ACL_MEMCPY_HOST_TO_HOST) == ACL_SUCCESS);
  CHECK(to == "abc--def--");
  CHECK(aclrtMemcpy2dAsync(to.data(), 5, from.data() + 4, 4, 3, 2, ACL_MEMCPY_HOST_TO_HOST,
                           nullptr) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(to == "def--ghi--");
}

TEST_CASE("data buffers and tensor descriptions keep what they are given") {
  char memory[4];
  aclDataBuffer* buffer = aclCreateDataBuffer(memory, sizeof memory);
  CHECK(aclGetDataBufferAddr(buffer) == memory);
  CHECK(aclGetDataBufferSizeV2(buffer) == 4);
  CHECK(aclUpdateDataBuffer(buffer, nullptr, 9) == ACL_SUCCESS);
  CHECK(aclGetDataBufferSize(buffer) == 9);
  CHECK(aclDestroyDataBuffer(buffer) == ACL_SUCCESS);
  CHECK(aclDestroyDataBuffer(nullptr) == ACL_ERROR_INVALID_PARAM);

  const int64_t dims[] = {2, 3, 4, 5};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT16, 4, dims, ACL_FORMAT_NCHW);
  REQUIRE(desc != nullptr);
  CHECK(aclGetTensorDescElementCount(desc) == 120);
  CHECK(aclGetTensorDescSize(desc) == 240);
  int64_t dim = 0;
  CHECK(aclGetTensorDescDimV2(desc, 3, &dim) == ACL_SUCCESS);
  CHECK(dim == 5);
  CHECK(aclGetTensorDescDimV2(desc, 4, &dim) == ACL_ERROR_INVALID_PARAM);
  aclTensorDesc* other = nullptr;
  CHECK(aclTransTensorDescFormat(desc, ACL_FORMAT_NHWC, &other) == ACL_SUCCESS);
  CHECK(aclGetTensorDescDim(other, 3) == 3);
  CHECK(aclTransTensorDescFormat(desc, ACL_FORMAT_FRACTAL_Z, &other) == ACL_ERROR_FORMAT_NOT_MATCH);
  aclDestroyTensorDesc(other);
  aclDestroyTensorDesc(desc);
  CHECK(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND) == nullptr);
  const int64_t large[] = {INT64_MAX, INT64_MAX};
  desc = aclCreateTensorDesc(ACL_FLOAT, 2, large, ACL_FORMAT_ND);
  CHECK(aclGetTensorDescSize(desc) == 0);
  aclDestroyTensorDesc(desc);
}

TEST_CASE("a forked child is like a new process, and its parent continues") {
  const Session session;
  const OwnStream stream;
  int ran = 0;
  auto count = [&ran] { ++ran; };
  REQUIRE(on_stream(stream, count) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  const int code = in_child([&]() -> int {
    const CapturedStderr quiet;
    if (aclrtSynchronizeStream(stream) != ACL_ERROR_UNINITIALIZE) return 1;
    if (on_stream(stream, count) != ACL_ERROR_UNINITIALIZE) return 2;
    if (aclInit(nullptr) != ACL_SUCCESS) return 3;
    if (aclrtSetDevice(1) != ACL_SUCCESS) return 4;
    if (aclrtSynchronizeStream(stream) != ACL_ERROR_RT_INVALID_HANDLE) return 5;
    if (!kChildrenHaveThreads) return 0;
    aclrtStream own = nullptr;
    if (aclrtCreateStream(&own) != ACL_SUCCESS) return 6;
    if (on_stream(own, count) != ACL_SUCCESS) return 7;
    if (aclrtSynchronizeStream(own) != ACL_SUCCESS || ran != 2) return 8;
    return aclFinalize() == ACL_SUCCESS ? 0 : 9;
  });
  CHECK(code == 0);
  REQUIRE(on_stream(stream, count) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
  CHECK(ran == 2);
}

TEST_CASE("a process that exits with busy streams keeps its exit code") {
  const int code = in_child([]() -> int {
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    for (int i = 0; i < 50; ++i) {
      if (aclrtLaunchHostFunc(
              nullptr, [](void*) { usleep(1000); }, nullptr) != ACL_SUCCESS)
        return 2;
    }
    exit(42);
  });
  CHECK(code == 42);
}

TEST_CASE("the profiler's queries of devices are answered") {
  CHECK_FALSE(msprof::acl::acl_is_initialised());
  CHECK(msprof::acl::device_count() == 8);
  const Session session(5);
  CHECK(msprof::acl::acl_is_initialised());
  const std::string text = tiny_model();
  uint32_t model = 0;
  REQUIRE(aclmdlLoadFromMem(text.data(), text.size(), &model) == ACL_SUCCESS);
  uint16_t device = 0;
  CHECK(msprof::acl::find_model_device(model, device));
  CHECK(device == 5);
  CHECK_FALSE(msprof::acl::find_model_device(model + 1, device));
  const OwnStream stream;
  msprof::acl::TaskIds first, second;
  CHECK(msprof::acl::enqueue_step(stream, 1, 2, 0, first));
  CHECK(msprof::acl::enqueue_step(stream, 1, 2, 1, second));
  CHECK(first.device == 5);
  CHECK(second.sequence == first.sequence + 1);
  CHECK_FALSE(msprof::acl::enqueue_step(&device, 1, 2, 0, first));
}
