// For C++: memory functions that accept pointers to any type. Everything else is in acl_rt.h.
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
