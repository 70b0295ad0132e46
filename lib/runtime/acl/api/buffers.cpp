// Data buffers and tensor descriptions.
#include "runtime/acl/api/buffers.hpp"

#include <limits>
#include <new>

#include "runtime/acl/api/call.hpp"

using namespace msprof::acl;

namespace {

constexpr std::int64_t kAnySize = -1;
constexpr int kMaxDims = 128;  // ACL_MAX_DIM_CNT

// Number of elements of the shape; 0 if a dimension is unknown or if the product overflows.
std::size_t element_count(const std::vector<std::int64_t>& dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return 0;
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(dim), &count)) return 0;
  }
  return count;
}

std::vector<std::int64_t> to_dims(int count, const std::int64_t* dims) {
  if (count < 0 || count > kMaxDims || (count > 0 && dims == nullptr)) {
    throw Failure(ACL_ERROR_INVALID_PARAM);
  }
  return {dims, dims + count};
}

}  // namespace

extern "C" {

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return new (std::nothrow) aclDataBuffer{data, size};
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  if (dataBuffer == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete dataBuffer;
  return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  if (dataBuffer == nullptr) return ACL_ERROR_INVALID_PARAM;
  *dataBuffer = {data, size};
  return ACL_SUCCESS;
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? nullptr : dataBuffer->data;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? 0 : dataBuffer->size;
}

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  aclTensorDesc* made = nullptr;
  guarded(__func__, [&] {
    std::vector<std::int64_t> shape = to_dims(numDims, dims);
    made = new aclTensorDesc;
    made->type = dataType;
    made->format = format;
    made->dims = std::move(shape);
  });
  return made;
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  delete desc;
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_DT_UNDEFINED : desc->type;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_FORMAT_UNDEFINED : desc->format;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  return desc == nullptr ? 0 : element_count(desc->dims);
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  if (desc == nullptr) return 0;
  std::size_t bytes = 0;
  const bool too_large =
      __builtin_mul_overflow(element_count(desc->dims), aclDataTypeSize(desc->type), &bytes);
  return too_large ? 0 : bytes;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return desc == nullptr ? 0 : desc->dims.size();
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  return desc == nullptr || index >= desc->dims.size() ? kAnySize : desc->dims[index];
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  if (desc == nullptr || dimSize == nullptr || index >= desc->dims.size()) {
    return ACL_ERROR_INVALID_PARAM;
  }
  *dimSize = desc->dims[index];
  return ACL_SUCCESS;
}

const char* aclGetTensorDescName(const aclTensorDesc* desc) {
  return desc == nullptr ? nullptr : desc->name.c_str();
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  if (desc == nullptr) return;
  guarded(__func__, [&] { desc->name = name == nullptr ? "" : name; });
}

aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount,
                                int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]) {
  return guarded(__func__, [&] {
    require(desc, dimsRange);
    if (dimsCount > kMaxDims) throw Failure(ACL_ERROR_INVALID_PARAM);
    desc->ranges.clear();
    for (std::size_t i = 0; i < dimsCount; ++i) {
      desc->ranges.push_back({dimsRange[i][0], dimsRange[i][1]});
    }
  });
}

aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format) {
  return aclSetTensorFormat(desc, format);
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  if (desc == nullptr) return ACL_ERROR_INVALID_PARAM;
  desc->storage_format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  if (desc == nullptr) return ACL_ERROR_INVALID_PARAM;
  desc->origin_format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return aclSetTensorShape(desc, numDims, dims);
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return guarded(__func__, [&] {
    require(desc);
    desc->storage_dims = to_dims(numDims, dims);
  });
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return guarded(__func__, [&] {
    require(desc);
    desc->origin_dims = to_dims(numDims, dims);
  });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return guarded(__func__, [&] {
    require(desc, dataBuffer);
    if (length == 0) throw Failure(ACL_ERROR_INVALID_PARAM);
    const char* bytes = static_cast<const char*>(dataBuffer);
    desc->constant.assign(bytes, bytes + length);
  });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  if (desc == nullptr) return ACL_ERROR_INVALID_PARAM;
  desc->placement = memType;
  return ACL_SUCCESS;
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return desc == nullptr || dynamicInputName == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS;
}

aclError aclSetTensorValueRange(aclTensorDesc* desc, size_t valueCount,
                                int64_t valueRange[][ACL_TENSOR_VALUE_RANGE_NUM]) {
  const bool is_whole = desc != nullptr && (valueCount == 0 || valueRange != nullptr);
  return is_whole ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

aclError aclTransTensorDescFormat(const aclTensorDesc* srcDesc, aclFormat dstFormat,
                                  aclTensorDesc** dstDesc) {
  return guarded(__func__, [&] {
    require(srcDesc, dstDesc);
    // Axis order of each format that can be converted to and from NCHW.
    const auto order = [](aclFormat format) -> const char* {
      if (format == ACL_FORMAT_NCHW) return "NCHW";
      if (format == ACL_FORMAT_NHWC) return "NHWC";
      return format == ACL_FORMAT_HWCN ? "HWCN" : nullptr;
    };
    const char* from = order(srcDesc->format);
    const char* to = order(dstFormat);
    if (from == nullptr || to == nullptr || srcDesc->dims.size() != 4) {
      throw Failure(ACL_ERROR_FORMAT_NOT_MATCH,
                    "four dimensions can change between NCHW, NHWC and HWCN only");
    }
    auto* made = new aclTensorDesc(*srcDesc);
    made->format = dstFormat;
    for (std::size_t i = 0; i < 4; ++i) {
      made->dims[i] = srcDesc->dims[std::string(from).find(to[i])];
    }
    *dstDesc = made;
  });
}

}  // extern "C"
