// A CANN application that counts its own calls, so that a test can compare a profile with the
// counts:
//   acl_program_workload OUTPUT MODEL SCENARIO [COUNTERS]
// Prints one line `name value` per count. If COUNTERS is given, an existing file, it holds the
// counts while the program runs, for tests that kill it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_prof.h"

namespace {

// Updated after the counted call has returned.
struct Counts {
  std::atomic<std::uint64_t> executions;  // model executions, completed
  std::atomic<std::uint64_t> launched;    // model executions, not completed yet
  std::atomic<std::uint64_t> ranges;      // push and pop, start and stop
  std::atomic<std::uint64_t> marks;
  std::atomic<std::uint64_t> copies;
  std::atomic<std::uint64_t> images;
};

Counts* counts = nullptr;

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

template <typename T>
T* checked(T* pointer, const char* what) {
  if (pointer == nullptr) check(-1, what);
  return pointer;
}

// A loaded model with buffers for one execution at a time.
class Model {
 public:
  explicit Model(const char* file) {
    check(aclmdlLoadFromFile(file, &id_), "aclmdlLoadFromFile");
    desc_ = checked(aclmdlCreateDesc(), "aclmdlCreateDesc");
    check(aclmdlGetDesc(desc_, id_), "aclmdlGetDesc");
  }
  ~Model() {
    aclmdlDestroyDesc(desc_);
    check(aclmdlUnload(id_), "aclmdlUnload");
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::uint32_t id() const { return id_; }
  aclmdlDesc* desc() const { return desc_; }

 private:
  std::uint32_t id_ = 0;
  aclmdlDesc* desc_ = nullptr;
};

class Buffers {
 public:
  explicit Buffers(const Model& model) {
    input_ = checked(aclmdlCreateDataset(), "aclmdlCreateDataset");
    output_ = checked(aclmdlCreateDataset(), "aclmdlCreateDataset");
    for (std::size_t i = 0; i < aclmdlGetNumInputs(model.desc()); ++i)
      add(input_, aclmdlGetInputSizeByIndex(model.desc(), i));
    for (std::size_t i = 0; i < aclmdlGetNumOutputs(model.desc()); ++i)
      add(output_, aclmdlGetOutputSizeByIndex(model.desc(), i));
  }
  ~Buffers() {
    for (aclmdlDataset* dataset : {input_, output_}) {
      for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
        aclDataBuffer* buffer = aclmdlGetDatasetBuffer(dataset, i);
        check(aclrtFree(aclGetDataBufferAddr(buffer)), "aclrtFree");
        aclDestroyDataBuffer(buffer);
      }
      aclmdlDestroyDataset(dataset);
    }
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  aclmdlDataset* input() const { return input_; }
  aclmdlDataset* output() const { return output_; }

 private:
  static void add(aclmdlDataset* dataset, std::size_t bytes) {
    void* memory = nullptr;
    check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMemset(memory, bytes, 0, bytes), "aclrtMemset");
    aclDataBuffer* buffer = checked(aclCreateDataBuffer(memory, bytes), "aclCreateDataBuffer");
    check(aclmdlAddDatasetBuffer(dataset, buffer), "aclmdlAddDatasetBuffer");
  }
  aclmdlDataset* input_ = nullptr;
  aclmdlDataset* output_ = nullptr;
};

// Records some devices from construction to destruction.
class Profile {
 public:
  Profile(std::vector<std::uint32_t> devices, std::uint64_t bits,
          aclprofAicoreMetrics metrics = ACL_AICORE_PIPE_UTILIZATION) {
    config_ = checked(
        aclprofCreateConfig(devices.empty() ? nullptr : devices.data(),
                            static_cast<std::uint32_t>(devices.size()), metrics, nullptr, bits),
        "aclprofCreateConfig");
    check(aclprofStart(config_), "aclprofStart");
  }
  ~Profile() {
    check(aclprofStop(config_), "aclprofStop");
    check(aclprofDestroyConfig(config_), "aclprofDestroyConfig");
  }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

 private:
  aclprofConfig* config_ = nullptr;
};

constexpr std::uint64_t kUsual =
    ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_TRAINING_TRACE;

void execute(const Model& model, const Buffers& buffers, int times) {
  for (int i = 0; i < times; ++i) {
    check(aclmdlExecute(model.id(), buffers.input(), buffers.output()), "aclmdlExecute");
    ++counts->executions;
  }
}

void* make_stamp(const char* message) {
  void* stamp = checked(aclprofCreateStamp(), "aclprofCreateStamp");
  check(
      aclprofSetStampTraceMessage(stamp, message, static_cast<std::uint32_t>(std::strlen(message))),
      "aclprofSetStampTraceMessage");
  return stamp;
}

void push_and_pop(const char* message, int times) {
  void* stamp = make_stamp(message);
  for (int i = 0; i < times; ++i) {
    check(aclprofPush(stamp), "aclprofPush");
    check(aclprofPop(), "aclprofPop");
    ++counts->ranges;
  }
  aclprofDestroyStamp(stamp);
}

void mark(const char* message, int times) {
  void* stamp = make_stamp(message);
  for (int i = 0; i < times; ++i) {
    check(aclprofMark(stamp), "aclprofMark");
    ++counts->marks;
  }
  aclprofDestroyStamp(stamp);
}

// Scenarios; each runs between aclprofInit and aclprofFinalize, on device 0.

void one_model(const char* file) {
  const Profile profile({0}, kUsual);
  const Model model(file);
  const Buffers buffers(model);
  execute(model, buffers, 5);
}

// Two rounds: devices 0 and 1, then 1 and 2; a model on each device of a round.
void two_rounds(const char* file) {
  const std::vector<std::vector<std::uint32_t>> rounds = {{0, 1}, {1, 2}};
  for (const auto& devices : rounds) {
    const Profile profile(devices, kUsual);
    for (const std::uint32_t device : devices) {
      check(aclrtSetDevice(static_cast<std::int32_t>(device)), "aclrtSetDevice");
      const Model model(file);
      const Buffers buffers(model);
      execute(model, buffers, 3);
    }
  }
  check(aclrtSetDevice(0), "aclrtSetDevice");
}

void eight_streams(const char* file) {
  const Profile profile({0}, kUsual);
  const Model model(file);
  constexpr int kStreams = 8;
  aclrtContext context = nullptr;
  check(aclrtGetCurrentContext(&context), "aclrtGetCurrentContext");
  // Destroyed after all streams have run: free stream ids would be reused.
  std::vector<aclrtStream> streams(kStreams);
  std::vector<std::thread> threads;
  for (aclrtStream& stream : streams) {
    threads.emplace_back([&] {
      check(aclrtSetCurrentContext(context), "aclrtSetCurrentContext");
      check(aclrtCreateStream(&stream), "aclrtCreateStream");
      const Buffers buffers(model);
      for (int n = 0; n < 10; ++n) {
        check(aclmdlExecuteAsync(model.id(), buffers.input(), buffers.output(), stream),
              "aclmdlExecuteAsync");
        ++counts->launched;
      }
      check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
      counts->executions += 10;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const aclrtStream stream : streams) {
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
  }
}

void dynamic_batch(const char* file) {
  const Profile profile({0}, kUsual);
  const Model model(file);
  const Buffers buffers(model);
  aclmdlBatch batches = {};
  check(aclmdlGetDynamicBatch(model.desc(), &batches), "aclmdlGetDynamicBatch");
  std::size_t index = 0;
  check(aclmdlGetInputIndexByName(model.desc(), ACL_DYNAMIC_TENSOR_NAME, &index),
        "aclmdlGetInputIndexByName");
  for (std::size_t i = 0; i < batches.batchCount && i < 4; ++i) {
    check(aclmdlSetDynamicBatchSize(model.id(), buffers.input(), index, batches.batch[i]),
          "aclmdlSetDynamicBatchSize");
    execute(model, buffers, 1);
    counts->images += batches.batch[i];
  }
}

void four_threads(const char*) {
  const Profile profile({0}, ACL_PROF_MSPROFTX | ACL_PROF_ACL_API);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      push_and_pop("work", 500);
      mark("here", 250);
    });
  for (std::thread& thread : threads) thread.join();
  // Another thread ends this range.
  void* stamp = make_stamp("across");
  std::uint32_t range = 0;
  check(aclprofRangeStart(stamp, &range), "aclprofRangeStart");
  std::thread([&] { check(aclprofRangeStop(range), "aclprofRangeStop"); }).join();
  ++counts->ranges;
  aclprofDestroyStamp(stamp);
}

void host_only(const char*) {
  const Profile profile({}, ACL_PROF_MSPROFTX, ACL_AICORE_NONE);
  push_and_pop("on the host", 20);
}

void copies(const char*) {
  const Profile profile({0}, kUsual | ACL_PROF_RUNTIME_API);
  constexpr std::size_t kBytes = 4096;
  void* device = nullptr;
  check(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  std::vector<char> host(kBytes);
  for (int i = 0; i < 7; ++i) {
    check(aclrtMemcpy(device, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
    ++counts->copies;
  }
  check(aclrtFree(device), "aclrtFree");
}

// Runs until it is killed.
void endless(const char* file) {
  const Profile profile({0}, kUsual | ACL_PROF_MSPROFTX);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([] {
      for (;;) {
        push_and_pop("work", 1000);
        mark("here", 1000);
      }
    });
  const Model model(file);
  const Buffers buffers(model);
  for (;;) execute(model, buffers, 1000);
}

const std::map<std::string, std::function<void(const char*)>> kScenarios = {
    {"one_model", one_model},
    {"two_rounds", two_rounds},
    {"eight_streams", eight_streams},
    {"dynamic_batch", dynamic_batch},
    {"four_threads", four_threads},
    {"host_only", host_only},
    {"copies", copies},
    {"endless", endless}};

Counts* counts_in(const char* file) {
  const int fd = file == nullptr ? -1 : ::open(file, O_RDWR);
  void* memory = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                        fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) check(-1, "mmap");
  return static_cast<Counts*>(memory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || !kScenarios.contains(argv[3])) {
    std::fprintf(stderr, "usage: %s OUTPUT MODEL SCENARIO [COUNTERS]\n", argv[0]);
    return 2;
  }
  counts = counts_in(argc > 4 ? argv[4] : nullptr);
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  check(aclprofInit(argv[1], std::strlen(argv[1])), "aclprofInit");
  kScenarios.at(argv[3])(argv[2]);
  check(aclprofFinalize(), "aclprofFinalize");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  check(aclFinalize(), "aclFinalize");
  std::printf("executions %llu\nranges %llu\nmarks %llu\ncopies %llu\nimages %llu\n",
              static_cast<unsigned long long>(counts->executions),
              static_cast<unsigned long long>(counts->ranges),
              static_cast<unsigned long long>(counts->marks),
              static_cast<unsigned long long>(counts->copies),
              static_cast<unsigned long long>(counts->images));
  return 0;
}
