// The operator library: tensors, scalars, lists, and addition.
#include <algorithm>
#include <cstring>
#include <new>

#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_add.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/addition.hpp"
#include "runtime/acl/device/launch.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

struct aclTensor {
  TensorView view;
};

struct aclScalar {
  Number number;
};

template <typename T>
struct Array {
  std::vector<T> values;
};
struct aclIntArray : Array<std::int64_t> {};
struct aclFloatArray : Array<float> {};
struct aclBoolArray : Array<std::uint8_t> {};
struct aclTensorList : Array<const aclTensor*> {};
struct aclScalarList : Array<const aclScalar*> {};

namespace {

// Status codes of the operator library.
constexpr aclnnStatus kNull = 161001, kInvalid = 161002;

constexpr std::uint64_t kMaxRank = 8;

// Sets `last` to the largest element index of a view, relative to its first element; -1 if the view
// is empty. Returns false if an argument is negative or too large.
bool last_index(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides,
                std::int64_t& last) {
  last = 0;
  bool empty = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || strides[i] < 0) return false;
    if (dims[i] == 0) {
      empty = true;
      continue;
    }
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(dims[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  if (empty) last = -1;
  return true;
}

bool product(const std::vector<std::int64_t>& dims, std::int64_t& count) {
  count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return false;
  }
  return true;
}

std::vector<std::int64_t> strides_in_a_row(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], dims[i], &strides[i - 1])) {
      throw Failure(kInvalid, "the tensor is too large");
    }
  }
  return strides;
}

aclTensor* make_tensor(const std::vector<std::int64_t>& dims, const std::int64_t* stride,
                       const std::vector<std::int64_t>& storage, std::int64_t offset,
                       aclDataType type, aclFormat format, void* data) {
  TensorView view;
  view.type = type;
  view.format = format;
  view.dims = dims;
  view.strides = stride == nullptr ? strides_in_a_row(dims)
                                   : std::vector<std::int64_t>(stride, stride + dims.size());
  std::int64_t last = 0, elements = 0, room = 0, end = 0;
  const auto size = static_cast<std::int64_t>(aclDataTypeSize(type));
  const bool counted = product(dims, elements) && product(storage, room) &&
                       last_index(view.dims, view.strides, last) &&
                       !__builtin_add_overflow(last, offset, &end);
  std::int64_t bytes = 0;
  if (!counted || offset < 0 || __builtin_mul_overflow(std::max(room, elements), size, &bytes)) {
    throw Failure(kInvalid, "dims, strides or offset are negative or too large");
  }
  if (last >= 0 && end >= room) throw Failure(kInvalid, "the view exceeds the memory");
  view.first = data == nullptr ? nullptr : static_cast<char*>(data) + offset * size;
  return new aclTensor{std::move(view)};
}

template <typename Made, typename Value>
Made* make_array(const char* function, const Value* values, std::uint64_t size) {
  Made* made = nullptr;
  guarded(function, [&] {
    if (values == nullptr && size != 0) throw Failure(ACL_ERROR_INVALID_PARAM);
    auto array = std::make_unique<Made>();
    array->values.assign(values, values + size);
    made = array.release();
  });
  return made;
}

template <typename T>
aclnnStatus destroy(const T* object) {
  if (object == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete object;
  return OK;
}

template <typename List>
aclnnStatus destroy_list(const List* list) {
  if (list == nullptr) return ACL_ERROR_INVALID_PARAM;
  for (const auto* member : list->values) delete member;
  delete list;
  return OK;
}

aclnnStatus copy_out(const char* function, const std::vector<std::int64_t>& from,
                     std::int64_t** values, std::uint64_t* count) {
  return guarded(function, [&] {
    require(values, count);
    *values = new std::int64_t[from.size()];
    std::copy(from.begin(), from.end(), *values);
    *count = from.size();
  });
}

const TensorView& checked_view(const aclTensor* tensor) {
  if (tensor->view.first == nullptr && tensor->view.elements() != 0) {
    throw Failure(kNull, "a tensor has no memory");
  }
  return tensor->view;
}

template <typename... Pointers>
void require_all(const Pointers*... pointers) {
  if (((pointers == nullptr) || ...)) throw Failure(kNull);
}

// Additions need no workspace.
void hand_out(std::shared_ptr<Operation> made, std::uint64_t* workspace, aclOpExecutor** executor) {
  *workspace = 0;
  *executor = reinterpret_cast<aclOpExecutor*>(made.get());
  Runtime::instance().operations.add(std::move(made));
}

void run(aclOpExecutor* executor, aclrtStream handle) {
  require_all(executor);
  Runtime& runtime = Runtime::instance();
  const std::shared_ptr<Stream> stream = runtime.stream(handle);
  const std::shared_ptr<Operation> operation = runtime.operations.find(executor);
  if (!operation) throw Failure(kInvalid, "the executor does not exist or was already used");
  if (!operation->is_repeatable) runtime.operations.take(executor);
  RanTask ran;
  ran.op = &operation->info;
  launch_task(
      *stream, ran,
      [operation](const Launch& launch) { record_op_launch(launch, operation->info, 1); },
      [operation](Stream&) -> int {
        operation->run();
        return ACL_SUCCESS;
      });
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  aclTensor* made = nullptr;
  guarded(__func__, [&] {
    if (viewDimsNum > kMaxRank || storageDimsNum > kMaxRank ||
        (viewDims == nullptr && viewDimsNum != 0) ||
        (storageDims == nullptr && storageDimsNum != 0)) {
      throw Failure(kInvalid, "a tensor has at most 8 dims");
    }
    const std::vector<std::int64_t> dims(viewDims, viewDims + viewDimsNum);
    const std::vector<std::int64_t> storage(storageDims, storageDims + storageDimsNum);
    made = make_tensor(dims, stride, storage.empty() ? dims : storage, offset, dataType, format,
                       tensorData);
  });
  return made;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  aclScalar* made = nullptr;
  guarded(__func__, [&] {
    require(value);
    if (!can_add(dataType)) throw Failure(kInvalid, "not a number type supported on a host");
    made = new aclScalar{read_number(value, dataType)};
  });
  return made;
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return make_array<aclIntArray>(__func__, value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return make_array<aclFloatArray>(__func__, value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return make_array<aclBoolArray>(__func__, value, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return make_array<aclTensorList>(__func__, value, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return make_array<aclScalarList>(__func__, value, size);
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return destroy(tensor);
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return destroy(scalar);
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return destroy(array);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy(array);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy(array);
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return destroy_list(array);
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return destroy_list(array);
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  if (tensor == nullptr) return ACL_ERROR_INVALID_PARAM;
  return copy_out(__func__, tensor->view.dims, viewDims, viewDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  if (tensor == nullptr) return ACL_ERROR_INVALID_PARAM;
  return copy_out(__func__, tensor->view.strides, stridesValue, stridesNum);
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  if (tensor == nullptr || format == nullptr) return ACL_ERROR_INVALID_PARAM;
  *format = tensor->view.format;
  return OK;
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  if (tensor == nullptr || dataType == nullptr) return ACL_ERROR_INVALID_PARAM;
  *dataType = tensor->view.type;
  return OK;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return guarded(__func__, [&] {
    const std::shared_ptr<Operation> operation = Runtime::instance().operations.find(executor);
    if (!operation) throw Failure(ACL_ERROR_INVALID_PARAM);
    operation->is_repeatable = true;
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return guarded(__func__, [&] {
    if (!Runtime::instance().operations.take(executor)) throw Failure(ACL_ERROR_INVALID_PARAM);
  });
}

aclnnStatus aclnnInit(const char*) {
  return OK;
}

aclnnStatus aclnnFinalize() {
  return OK;
}

aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                     const aclScalar* alpha, aclTensor* out,
                                     uint64_t* workspaceSize, aclOpExecutor** executor) {
  return recorded(__func__, Call::aclnnAddGetWorkspaceSize, [&] {
    require_all(self, other, alpha, out, workspaceSize, executor);
    hand_out(make_addition("aclnnAdd_AddAiCore_Add", checked_view(self), checked_view(other),
                           alpha->number, checked_view(out), kInvalid),
             workspaceSize, executor);
  });
}

aclnnStatus aclnnAdd(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) {
  return recorded(__func__, Call::aclnnAdd, [&] { run(executor, stream); });
}

aclnnStatus aclnnAddsGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                      const aclScalar* alpha, aclTensor* out,
                                      uint64_t* workspaceSize, aclOpExecutor** executor) {
  return recorded(__func__, Call::aclnnAddsGetWorkspaceSize, [&] {
    require_all(self, other, alpha, out, workspaceSize, executor);
    hand_out(make_addition("aclnnAdds_AddAiCore_Add", checked_view(self), other->number,
                           alpha->number, checked_view(out), kInvalid),
             workspaceSize, executor);
  });
}

aclnnStatus aclnnAdds(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) {
  return recorded(__func__, Call::aclnnAdds, [&] { run(executor, stream); });
}

aclnnStatus aclnnInplaceAddGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other,
                                            const aclScalar* alpha, uint64_t* workspaceSize,
                                            aclOpExecutor** executor) {
  return recorded(__func__, Call::aclnnInplaceAddGetWorkspaceSize, [&] {
    require_all(selfRef, other, alpha, workspaceSize, executor);
    hand_out(make_addition("aclnnInplaceAdd_AddAiCore_Add", checked_view(selfRef),
                           checked_view(other), alpha->number, checked_view(selfRef), kInvalid),
             workspaceSize, executor);
  });
}

aclnnStatus aclnnInplaceAdd(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) {
  return recorded(__func__, Call::aclnnInplaceAdd, [&] { run(executor, stream); });
}

}  // extern "C"
