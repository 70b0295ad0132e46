// An application for CANN that knows nothing of profiling: whoever starts it decides.
//   acl_program_inference MODEL [ACL_JSON]
// Executes the model three times.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

namespace {

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

// A dataset with one new buffer of `bytes`.
aclmdlDataset* dataset(std::size_t bytes) {
  void* memory = nullptr;
  check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  aclmdlDataset* const set = aclmdlCreateDataset();
  check(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(memory, bytes)), "aclmdlAddDatasetBuffer");
  return set;
}

// With its buffers and their memory.
void destroy(aclmdlDataset* dataset) {
  for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* const buffer = aclmdlGetDatasetBuffer(dataset, i);
    check(aclrtFree(aclGetDataBufferAddr(buffer)), "aclrtFree");
    aclDestroyDataBuffer(buffer);
  }
  aclmdlDestroyDataset(dataset);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  check(aclInit(argc > 2 ? argv[2] : nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  std::uint32_t model = 0;
  check(aclmdlLoadFromFile(argv[1], &model), "aclmdlLoadFromFile");
  aclmdlDesc* const desc = aclmdlCreateDesc();
  check(aclmdlGetDesc(desc, model), "aclmdlGetDesc");
  aclmdlDataset* const input = dataset(aclmdlGetInputSizeByIndex(desc, 0));
  // The second input of a dynamic batch is its number.
  for (std::size_t i = 1; i < aclmdlGetNumInputs(desc); ++i) {
    void* memory = nullptr;
    const std::size_t bytes = aclmdlGetInputSizeByIndex(desc, i);
    check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclmdlAddDatasetBuffer(input, aclCreateDataBuffer(memory, bytes)),
          "aclmdlAddDatasetBuffer");
  }
  aclmdlDataset* const output = dataset(aclmdlGetOutputSizeByIndex(desc, 0));
  for (int i = 0; i < 3; ++i) check(aclmdlExecute(model, input, output), "aclmdlExecute");
  destroy(input);
  destroy(output);
  aclmdlDestroyDesc(desc);
  check(aclmdlUnload(model), "aclmdlUnload");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  check(aclFinalize(), "aclFinalize");
  return 0;
}
