// The operator library: tensors, and sums of every type and shape.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "acl/device_fixture.hpp"
#include "aclnnop/aclnn_add.h"

using namespace msprof::acl::test;

namespace {

constexpr aclnnStatus kNull = 161001, kInvalid = 161002;

using Dims = std::vector<int64_t>;

// A tensor over memory of the test.
class Tensor {
 public:
  template <typename T>
  Tensor(std::vector<T>& values, aclDataType type, const Dims& dims, const Dims& strides = {},
         int64_t offset = 0)
      : tensor_(aclCreateTensor(dims.data(), dims.size(), type,
                                strides.empty() ? nullptr : strides.data(), offset, ACL_FORMAT_ND,
                                storage(values.size()).data(), 1, values.data())) {
    REQUIRE(tensor_ != nullptr);
  }
  ~Tensor() { aclDestroyTensor(tensor_); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  static Dims storage(size_t size) { return {static_cast<int64_t>(size)}; }
  aclTensor* tensor_;
};

template <typename T>
class Scalar {
 public:
  Scalar(T value, aclDataType type) : scalar_(aclCreateScalar(&value, type)) {
    REQUIRE(scalar_ != nullptr);
  }
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  operator aclScalar*() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

// Runs both phases and waits; returns the first code that is not 0.
aclnnStatus add(const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
                aclTensor* out) {
  uint64_t size = 1;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus code = aclnnAddGetWorkspaceSize(self, other, alpha, out, &size, &executor);
  if (code != OK) return code;
  REQUIRE(aclnnAdd(nullptr, size, executor, nullptr) == OK);
  return aclrtSynchronizeStream(nullptr);
}

template <typename T>
void check_type(aclDataType type, T left, T right, T alpha, T sum) {
  INFO("data type " << type);
  std::vector<T> a(5, left), b(5, right), c(5);
  const Scalar<T> factor(alpha, type);
  CHECK(add(Tensor(a, type, {5}), Tensor(b, type, {5}), factor, Tensor(c, type, {5})) == OK);
  CHECK(c == std::vector<T>(5, sum));
}

}  // namespace

TEST_CASE("the sum of the vendor's sample: floats of shape 4x2, alpha 1.2") {
  const Session session;
  std::vector<float> self{0, 1, 2, 3, 4, 5, 6, 7}, other{1, 1, 1, 2, 2, 2, 3, 3}, out(8);
  const Tensor a(self, ACL_FLOAT, {4, 2}), b(other, ACL_FLOAT, {4, 2}), c(out, ACL_FLOAT, {4, 2});
  const Scalar<float> alpha(1.2F, ACL_FLOAT);
  REQUIRE(add(a, b, alpha, c) == OK);
  for (size_t i = 0; i < 8; ++i) CHECK(out[i] == Approx(self[i] + 1.2F * other[i]));
}

TEST_CASE("every type of number is added as itself; integers wrap") {
  const Session session;
  check_type<float>(ACL_FLOAT, 0.5F, 0.25F, 2.0F, 1.0F);
  check_type<double>(ACL_DOUBLE, 1.0, 1e-13, 1.0, 1.0 + 1e-13);
  check_type<int32_t>(ACL_INT32, std::numeric_limits<int32_t>::max(), 1, 1,
                      std::numeric_limits<int32_t>::min());
  check_type<int64_t>(ACL_INT64, int64_t{1} << 60, 3, -2, (int64_t{1} << 60) - 6);
  check_type<int8_t>(ACL_INT8, -100, 20, 1, -80);
  check_type<uint8_t>(ACL_UINT8, 250, 10, 1, 4);
  check_type<int16_t>(ACL_INT16, -5, 5, 3, 10);
  check_type<uint16_t>(ACL_UINT16, 65535, 1, 1, 0);
  check_type<uint32_t>(ACL_UINT32, 7, 8, 9, 79);
  check_type<uint64_t>(ACL_UINT64, UINT64_MAX, 1, 1, 0);
  // 1.5 + 2 * 0.25 = 2, as float16 and as bfloat16.
  check_type<uint16_t>(ACL_FLOAT16, 0x3E00, 0x3400, 0x4000, 0x4000);
  check_type<uint16_t>(ACL_BF16, 0x3FC0, 0x3E80, 0x4000, 0x4000);
}

TEST_CASE("different types are promoted, and a sum that does not fit is refused") {
  const Session session;
  const CapturedStderr captured;
  std::vector<int32_t> whole{-3, 4}, whole_out(2);
  std::vector<float> real{0.5F, 0.25F}, real_out(2);
  std::vector<int64_t> large{1, 2};
  std::vector<uint8_t> truth(2);
  const Tensor i(whole, ACL_INT32, {2}), io(whole_out, ACL_INT32, {2}), f(real, ACL_FLOAT, {2}),
      fo(real_out, ACL_FLOAT, {2}), l(large, ACL_INT64, {2}), t(truth, ACL_BOOL, {2});
  const Scalar<float> half(0.5F, ACL_FLOAT);
  const Scalar<int32_t> two(2, ACL_INT32);
  CHECK(add(i, f, half, fo) == OK);
  CHECK(real_out == std::vector<float>{-2.75F, 4.125F});
  CHECK(add(i, l, two, fo) == OK);
  CHECK(real_out == std::vector<float>{-1.0F, 8.0F});
  CHECK(add(i, i, half, io) == kInvalid);
  CHECK(add(i, f, two, io) == kInvalid);
  CHECK(add(i, i, two, t) == kInvalid);
  std::vector<uint64_t> complex(2);
  CHECK(add(Tensor(complex, ACL_COMPLEX64, {2}), i, two, io) == kInvalid);
  CHECK(captured.text().find("integers need an integer alpha") != std::string::npos);
}

TEST_CASE("shapes are broadcast if they match") {
  const Session session;
  const CapturedStderr captured;
  std::vector<float> matrix{1, 2, 3, 4, 5, 6}, row{10, 20, 30}, column{100, 200}, out(6), one{7};
  const Tensor m(matrix, ACL_FLOAT, {2, 3}), r(row, ACL_FLOAT, {3}), c(column, ACL_FLOAT, {2, 1}),
      o(out, ACL_FLOAT, {2, 3}), s(one, ACL_FLOAT, {});
  const Scalar<float> alpha(1, ACL_FLOAT);
  CHECK(add(m, r, alpha, o) == OK);
  CHECK(out == std::vector<float>{11, 22, 33, 14, 25, 36});
  CHECK(add(c, r, alpha, o) == OK);
  CHECK(out == std::vector<float>{110, 120, 130, 210, 220, 230});
  CHECK(add(s, m, alpha, o) == OK);
  CHECK(out == std::vector<float>{8, 9, 10, 11, 12, 13});
  std::vector<float> scalar_out(1);
  CHECK(add(s, s, alpha, Tensor(scalar_out, ACL_FLOAT, {})) == OK);
  CHECK(scalar_out[0] == 14);
  CHECK(add(m, Tensor(column, ACL_FLOAT, {2}), alpha, o) == kInvalid);
  CHECK(add(m, r, alpha, r) == kInvalid);
  CHECK(captured.text().find("shapes [2,3] and [2] cannot be broadcast") != std::string::npos);
}

TEST_CASE("strides and offsets are respected, also for scattered elements") {
  const Session session;
  std::vector<float> memory{0, 1, 2, 3, 4, 5, 6}, out(6, -1.0F), zero{0};
  const Scalar<float> alpha(1, ACL_FLOAT);
  // The transpose of rows (1,2,3) and (4,5,6), added into a matrix in column-major order.
  const Tensor transposed(memory, ACL_FLOAT, {3, 2}, {1, 3}, 1);
  CHECK(add(transposed, Tensor(zero, ACL_FLOAT, {1}), alpha, Tensor(out, ACL_FLOAT, {3, 2})) == OK);
  CHECK(out == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(add(transposed, transposed, alpha, Tensor(out, ACL_FLOAT, {3, 2}, {1, 3})) == OK);
  CHECK(out == std::vector<float>{2, 4, 6, 8, 10, 12});
  std::vector<float> nothing;
  CHECK(add(Tensor(nothing, ACL_FLOAT, {0, 3}), Tensor(zero, ACL_FLOAT, {1}), alpha,
            Tensor(nothing, ACL_FLOAT, {0, 3})) == OK);
}

TEST_CASE("a number is added to a tensor, and a tensor into another") {
  const Session session;
  std::vector<float> self{1, 2, 3}, out(3);
  std::vector<int32_t> whole{1, 2, 3};
  const Tensor a(self, ACL_FLOAT, {3}), c(out, ACL_FLOAT, {3}), i(whole, ACL_INT32, {3});
  const Scalar<float> half(0.5F, ACL_FLOAT), two(2, ACL_FLOAT);
  const Scalar<int64_t> minus(-4, ACL_INT64), one(1, ACL_INT64);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(aclnnAddsGetWorkspaceSize(a, half, two, c, &size, &executor) == OK);
  REQUIRE(aclnnAdds(nullptr, size, executor, nullptr) == OK);
  REQUIRE(aclnnAddsGetWorkspaceSize(i, minus, one, i, &size, &executor) == OK);
  REQUIRE(aclnnAdds(nullptr, size, executor, nullptr) == OK);
  REQUIRE(aclnnInplaceAddGetWorkspaceSize(a, c, two, &size, &executor) == OK);
  REQUIRE(aclnnInplaceAdd(nullptr, size, executor, nullptr) == OK);
  REQUIRE(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(out == std::vector<float>{2, 3, 4});
  CHECK(whole == std::vector<int32_t>{-3, -2, -1});
  CHECK(self == std::vector<float>{5, 8, 11});
}

TEST_CASE("an executor can run once unless it is repeatable") {
  const Session session;
  const CapturedStderr quiet;
  std::vector<float> self{1}, out(1);
  const Tensor a(self, ACL_FLOAT, {1}), c(out, ACL_FLOAT, {1});
  const Scalar<float> one(1, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(aclnnAddGetWorkspaceSize(a, c, one, c, &size, &executor) == OK);
  CHECK(aclnnAdd(nullptr, size, executor, nullptr) == OK);
  CHECK(aclnnAdd(nullptr, size, executor, nullptr) == kInvalid);
  REQUIRE(aclnnAddGetWorkspaceSize(a, c, one, c, &size, &executor) == OK);
  REQUIRE(aclSetAclOpExecutorRepeatable(executor) == OK);
  for (int i = 0; i < 3; ++i) CHECK(aclnnAdd(nullptr, size, executor, nullptr) == OK);
  CHECK(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS);
  CHECK(out[0] == 4);
  CHECK(aclDestroyAclOpExecutor(executor) == OK);
  CHECK(aclDestroyAclOpExecutor(executor) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclnnAdd(nullptr, 0, nullptr, nullptr) == kNull);
  CHECK(aclnnAddGetWorkspaceSize(nullptr, c, one, c, &size, &executor) == kNull);
  CHECK(aclnnAddGetWorkspaceSize(a, c, nullptr, c, &size, &executor) == kNull);
}

TEST_CASE("tensors that exceed their memory or the number range are refused") {
  const CapturedStderr quiet;
  std::array<float, 6> memory{};
  const auto make = [&](const Dims& dims, const Dims& strides, int64_t offset,
                        const Dims& storage) {
    aclTensor* tensor =
        aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, strides.data(), offset, ACL_FORMAT_ND,
                        storage.data(), storage.size(), memory.data());
    const bool made = tensor != nullptr;
    if (made) aclDestroyTensor(tensor);
    return made;
  };
  CHECK(make({2, 3}, {3, 1}, 0, {6}));
  CHECK_FALSE(make({2, 3}, {3, 1}, 1, {6}));
  CHECK_FALSE(make({2, 3}, {4, 1}, 0, {6}));
  CHECK_FALSE(make({2, 3}, {-3, 1}, 0, {6}));
  CHECK_FALSE(make({-2}, {1}, 0, {6}));
  CHECK_FALSE(make({2}, {1}, -1, {6}));
  CHECK_FALSE(make({INT64_MAX, INT64_MAX}, {0, 0}, 0, {6}));
  CHECK_FALSE(make({2, 2}, {INT64_MAX, INT64_MAX}, 0, {6}));
  CHECK_FALSE(make({1}, {1}, INT64_MAX, {6}));
  CHECK_FALSE(make(Dims(9, 1), Dims(9, 1), 0, {1}));
  CHECK(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr);
  CHECK(aclCreateScalar(memory.data(), ACL_STRING) == nullptr);
}

TEST_CASE("a tensor returns its shape, strides, type and format; lists own their members") {
  std::vector<float> memory(6);
  const Dims dims{2, 3}, strides{3, 1};
  aclTensor* tensor = aclCreateTensor(dims.data(), 2, ACL_FLOAT, strides.data(), 0, ACL_FORMAT_NC,
                                      dims.data(), 2, memory.data());
  int64_t *shape = nullptr, *steps = nullptr;
  uint64_t rank = 0;
  CHECK(aclGetViewShape(tensor, &shape, &rank) == OK);
  CHECK(Dims(shape, shape + rank) == dims);
  CHECK(aclGetViewStrides(tensor, &steps, &rank) == OK);
  CHECK(Dims(steps, steps + rank) == strides);
  delete[] shape;
  delete[] steps;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclDataType type = ACL_DT_UNDEFINED;
  CHECK(aclGetFormat(tensor, &format) == OK);
  CHECK(format == ACL_FORMAT_NC);
  CHECK(aclGetDataType(tensor, &type) == OK);
  CHECK(type == ACL_FLOAT);
  CHECK(aclGetDataType(nullptr, &type) == ACL_ERROR_INVALID_PARAM);
  aclTensorList* list = aclCreateTensorList(&tensor, 1);
  CHECK(aclDestroyTensorList(list) == OK);
  const bool truths[] = {true, false};
  CHECK(aclDestroyBoolArray(aclCreateBoolArray(truths, 2)) == OK);
  CHECK(aclCreateIntArray(nullptr, 2) == nullptr);
  CHECK(aclDestroyIntArray(nullptr) == ACL_ERROR_INVALID_PARAM);
}
