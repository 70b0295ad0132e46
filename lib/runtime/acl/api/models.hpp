// The opaque structures of acl_mdl.h, and reading of model files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_mdl.h"
#include "runtime/acl/device/failure.hpp"
#include "runtime/engine/model/model.hpp"

struct aclmdlDataset {
  struct Entry {
    aclDataBuffer* buffer;  // owned by the application
    aclTensorDesc* desc;    // owned by the application; null if it set none
  };
  std::vector<Entry> entries;
  std::int64_t batch = 0;  // 0: the model's default
};

struct aclmdlDesc {
  struct Port {
    std::string name;
    std::vector<std::int64_t> dims;  // for the largest batch
    aclDataType type = ACL_FLOAT;
    aclFormat format = ACL_FORMAT_NCHW;
    bool is_batched = true;  // the first dimension is the batch
  };
  std::vector<Port> inputs, outputs;
  std::int64_t batch = 0, max_batch = 0;
  std::uint32_t model = 0;  // 0: described without being loaded
};

namespace msprof::acl {

// Size of the extra input through which an application sets the batch of a model with a dynamic
// batch. It follows the model's own inputs and holds a u64.
inline constexpr std::size_t kBatchInputBytes = 8;

// Throw ModelError if the data is not a model of this runtime, and Failure if the file cannot be
// read.
runtime::Model parse_model(const void* bytes, std::size_t size);
runtime::Model read_model(const char* path);

// Reads the value of an attribute passed by address and size. Throws Failure if the size is wrong.
template <typename T>
T option(const void* value, std::size_t size) {
  T read{};
  if (size != sizeof read) throw Failure(ACL_ERROR_INVALID_PARAM);
  std::memcpy(&read, value, sizeof read);
  return read;
}

}  // namespace msprof::acl
