// Shared by the programs that follow the vendor's profiling examples: they call the same functions
// in the same order, and print their counts as lines `name value` at the end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"

namespace example {

inline void check(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: %d\n", what, code);
  std::exit(1);
}

inline void expect(bool is_so, const char* what) {
  check(is_so ? 0 : -1, what);
}

inline void print(const char* name, std::uint64_t value) {
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
}

class Device {
 public:
  explicit Device(std::int32_t id) : id_(id) {
    check(aclrtSetDevice(id_), "aclrtSetDevice");
    check(aclrtCreateContext(&context_, id_), "aclrtCreateContext");
    check(aclrtSetCurrentContext(context_), "aclrtSetCurrentContext");
    check(aclrtCreateStream(&stream_), "aclrtCreateStream");
  }
  // Ends all work on the device; uses Force, because a library may also have set the device.
  ~Device() {
    check(aclrtDestroyStream(stream_), "aclrtDestroyStream");
    check(aclrtDestroyContext(context_), "aclrtDestroyContext");
    check(aclrtResetDeviceForce(id_), "aclrtResetDeviceForce");
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  aclrtStream stream() const { return stream_; }

 private:
  const std::int32_t id_;
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
};

// A tensor of floats with memory on the device.
class Tensor {
 public:
  Tensor(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
    const std::size_t bytes = values.size() * sizeof(float);
    check(aclrtMalloc(&memory_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMemcpy(memory_, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
    tensor_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0,
                              ACL_FORMAT_ND, shape.data(), shape.size(), memory_);
    expect(tensor_ != nullptr, "aclCreateTensor");
  }
  ~Tensor() {
    check(aclDestroyTensor(tensor_), "aclDestroyTensor");
    check(aclrtFree(memory_), "aclrtFree");
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  aclTensor* get() const { return tensor_; }
  std::vector<float> read(std::size_t count) const {
    std::vector<float> values(count);
    const std::size_t bytes = count * sizeof(float);
    check(aclrtMemcpy(values.data(), bytes, memory_, bytes, ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
    return values;
  }

 private:
  void* memory_ = nullptr;
  aclTensor* tensor_ = nullptr;
};

// Computes out = self + 1.2 * other for tensors of 4 x 2 floats, in two phases; waits, and checks
// every sum.
inline void add_tensors(aclrtStream stream) {
  const std::vector<std::int64_t> shape = {4, 2};
  const std::vector<float> left = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<float> right = {1, 1, 1, 2, 2, 2, 3, 3};
  const Tensor self(left, shape);
  const Tensor other(right, shape);
  const Tensor out(std::vector<float>(left.size()), shape);
  float factor = 1.2F;
  aclScalar* alpha = aclCreateScalar(&factor, ACL_FLOAT);
  expect(alpha != nullptr, "aclCreateScalar");

  std::uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  check(aclnnAddGetWorkspaceSize(self.get(), other.get(), alpha, out.get(), &bytes, &executor),
        "aclnnAddGetWorkspaceSize");
  void* workspace = nullptr;
  if (bytes > 0) check(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclnnAdd(workspace, bytes, executor, stream), "aclnnAdd");
  check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

  const std::vector<float> sums = out.read(left.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const float difference = sums[i] - (left[i] + factor * right[i]);
    expect(difference < 1e-5F && difference > -1e-5F, "a sum is wrong");
  }
  check(aclDestroyScalar(alpha), "aclDestroyScalar");
  if (workspace != nullptr) check(aclrtFree(workspace), "aclrtFree");
}

}  // namespace example
