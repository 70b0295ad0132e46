// For C++: memory functions that take a pointer to any type of data. Everything else is acl_rt.h.
#pragma once

#include "acl_rt.h"

#ifdef __cplusplus
template <typename T>
inline aclError aclrtMalloc(T** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return ::aclrtMalloc(reinterpret_cast<void**>(devPtr), size, policy);
}

template <typename T>
inline aclError aclrtMallocHost(T** hostPtr, size_t size) {
  return ::aclrtMallocHost(reinterpret_cast<void**>(hostPtr), size);
}
#endif
