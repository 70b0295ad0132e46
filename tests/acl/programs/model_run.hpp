// Shared by programs that run a model through the CANN interface: checked calls and data sets.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

namespace model_run {

inline void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

inline void add_buffer(aclmdlDataset* dataset, std::size_t bytes) {
  void* memory = nullptr;
  check(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, bytes)),
        "aclmdlAddDatasetBuffer");
}

// Destroys a data set with its buffers and their memory.
inline void destroy(aclmdlDataset* dataset) {
  for (std::size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* const buffer = aclmdlGetDatasetBuffer(dataset, i);
    check(aclrtFree(aclGetDataBufferAddr(buffer)), "aclrtFree");
    aclDestroyDataBuffer(buffer);
  }
  aclmdlDestroyDataset(dataset);
}

}  // namespace model_run
