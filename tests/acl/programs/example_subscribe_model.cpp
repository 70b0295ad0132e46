// Reads a model's operators from a pipe while it runs:
//   acl_program_example_subscribe_model MODEL
#include <pthread.h>
#include <unistd.h>

#include <string>

#include "acl/acl_prof.h"
#include "example.hpp"
#include "profiling/aprof_pub.h"
#include "securec.h"

using namespace example;

namespace {

struct Reader {
  int pipe_end = -1;
  std::uint64_t records = 0;
  std::uint64_t named = 0;
  std::uint32_t model = 0;
};

void look_at(Reader& reader, const void* data, std::size_t bytes) {
  std::uint32_t count = 0;
  check(aclprofGetOpNum(data, bytes, &count), "aclprofGetOpNum");
  for (std::uint32_t i = 0; i < count; ++i) {
    expect(aclprofGetModelId(data, bytes, i) == reader.model, "aclprofGetModelId");
    std::size_t type_bytes = 0;
    std::size_t name_bytes = 0;
    check(aclprofGetOpTypeLen(data, bytes, i, &type_bytes), "aclprofGetOpTypeLen");
    check(aclprofGetOpNameLen(data, bytes, i, &name_bytes), "aclprofGetOpNameLen");
    std::string type(type_bytes, '\0');
    std::string name(name_bytes, '\0');
    check(aclprofGetOpType(data, bytes, i, type.data(), type.size()), "aclprofGetOpType");
    check(aclprofGetOpName(data, bytes, i, name.data(), name.size()), "aclprofGetOpName");
    const std::uint64_t start = aclprofGetOpStart(data, bytes, i);
    const std::uint64_t end = aclprofGetOpEnd(data, bytes, i);
    // Times are truncated to whole microseconds separately.
    const std::uint64_t duration = aclprofGetOpDuration(data, bytes, i);
    expect(start > 0 && end >= start && duration <= end - start + 1, "the times of an operator");
    if (type[0] != '\0' && name[0] != '\0') ++reader.named;
  }
  reader.records += count;
}

// Reads until the runtime closes the other end.
void* read_pipe(void* argument) {
  Reader& reader = *static_cast<Reader*>(argument);
  std::size_t record = 0;
  check(aclprofGetOpDescSize(&record), "aclprofGetOpDescSize");
  constexpr std::size_t kRecords = 10;
  std::vector<char> buffer(record * kRecords);
  std::size_t filled = 0;
  for (;;) {
    const ssize_t got = read(reader.pipe_end, buffer.data() + filled, buffer.size() - filled);
    expect(got >= 0, "read");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    const std::size_t whole = filled / record * record;
    if (whole > 0) look_at(reader, buffer.data(), whole);
    std::memmove(buffer.data(), buffer.data() + whole, filled - whole);
    filled -= whole;
  }
  expect(filled == 0, "a part of a record is left in the pipe");
  return nullptr;
}

void add_buffer(aclmdlDataset* dataset, std::size_t bytes) {
  void* memory = nullptr;
  check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(memset_s(memory, bytes, 0, bytes), "memset_s");
  aclDataBuffer* buffer = aclCreateDataBuffer(memory, bytes);
  expect(buffer != nullptr, "aclCreateDataBuffer");
  check(aclmdlAddDatasetBuffer(dataset, buffer), "aclmdlAddDatasetBuffer");
}

void destroy(aclmdlDataset* dataset) {
  for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* buffer = aclmdlGetDatasetBuffer(dataset, i);
    check(aclrtFree(aclGetDataBufferAddr(buffer)), "aclrtFree");
    check(aclDestroyDataBuffer(buffer), "aclDestroyDataBuffer");
  }
  check(aclmdlDestroyDataset(dataset), "aclmdlDestroyDataset");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr std::uint32_t kDevice = 0;
  constexpr int kExecutions = 5;
  Reader reader;
  check(aclInit(nullptr), "aclInit");
  {
    const Device device(kDevice);
    aclrtRunMode mode = ACL_DEVICE;
    check(aclrtGetRunMode(&mode), "aclrtGetRunMode");

    std::size_t work_bytes = 0;
    std::size_t weight_bytes = 0;
    check(aclmdlQuerySize(argv[1], &work_bytes, &weight_bytes), "aclmdlQuerySize");
    void* work = nullptr;
    void* weights = nullptr;
    // A host does not use memory of the caller, and may request none.
    if (work_bytes > 0)
      check(aclrtMalloc(&work, work_bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    if (weight_bytes > 0)
      check(aclrtMalloc(&weights, weight_bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(
        aclmdlLoadFromFileWithMem(argv[1], &reader.model, work, work_bytes, weights, weight_bytes),
        "aclmdlLoadFromFileWithMem");
    aclmdlDesc* desc = aclmdlCreateDesc();
    expect(desc != nullptr, "aclmdlCreateDesc");
    check(aclmdlGetDesc(desc, reader.model), "aclmdlGetDesc");
    aclmdlDataset* input = aclmdlCreateDataset();
    aclmdlDataset* output = aclmdlCreateDataset();
    expect(input != nullptr && output != nullptr, "aclmdlCreateDataset");
    for (std::size_t i = 0; i < aclmdlGetNumInputs(desc); ++i)
      add_buffer(input, aclmdlGetInputSizeByIndex(desc, i));
    for (std::size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i)
      add_buffer(output, aclmdlGetOutputSizeByIndex(desc, i));

    int ends[2] = {-1, -1};
    check(pipe(ends), "pipe");
    reader.pipe_end = ends[0];
    check(MsprofSetDeviceIdByGeModelIdx(reader.model, kDevice), "MsprofSetDeviceIdByGeModelIdx");
    aclprofSubscribeConfig* config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &ends[1]);
    expect(config != nullptr, "aclprofCreateSubscribeConfig");
    check(aclprofModelSubscribe(reader.model, config), "aclprofModelSubscribe");
    pthread_t thread;
    check(pthread_create(&thread, nullptr, read_pipe, &reader), "pthread_create");

    for (int i = 0; i < kExecutions; ++i)
      check(aclmdlExecute(reader.model, input, output), "aclmdlExecute");

    check(aclprofModelUnSubscribe(reader.model), "aclprofModelUnSubscribe");
    check(pthread_join(thread, nullptr), "pthread_join");
    check(aclprofDestroySubscribeConfig(config), "aclprofDestroySubscribeConfig");
    check(MsprofUnsetDeviceIdByGeModelIdx(reader.model, kDevice),
          "MsprofUnsetDeviceIdByGeModelIdx");
    check(close(ends[0]), "close");

    destroy(input);
    destroy(output);
    check(aclmdlDestroyDesc(desc), "aclmdlDestroyDesc");
    check(aclmdlUnload(reader.model), "aclmdlUnload");
    if (work != nullptr) check(aclrtFree(work), "aclrtFree");
    if (weights != nullptr) check(aclrtFree(weights), "aclrtFree");
  }
  check(aclFinalize(), "aclFinalize");
  print("executions", kExecutions);
  print("records", reader.records);
  print("named", reader.named);
  return 0;
}
