// The opaque structures of acl_mdl.h, and reading model files.
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
    aclTensorDesc* desc;    // likewise; null unless it set one
  };
  std::vector<Entry> entries;
  std::int64_t batch = 0;  // 0: the model's own
};

struct aclmdlDesc {
  struct Port {
    std::string name;
    std::vector<std::int64_t> dims;  // of the largest batch
    aclDataType type = ACL_FLOAT;
    aclFormat format = ACL_FORMAT_NCHW;
    bool batched = true;  // the first dimension is the batch
  };
  std::vector<Port> inputs, outputs;
  std::int64_t batch = 0, max_batch = 0;
  std::uint32_t model = 0;  // 0: described without being loaded
};

namespace msprof::acl {

// An application sets the batch of a model whose batch may change through one more input, after the
// model's own: 8 bytes, a u64.
inline constexpr std::size_t kBatchInputBytes = 8;

// Throw ModelError for what is no model of this runtime, and Failure for a file that cannot be
// read.
runtime::Model parse_model(const void* bytes, std::size_t size);
runtime::Model read_model(const char* path);

// The value of an attribute that a program sets by address and size.
template <typename T>
T option(const void* value, std::size_t size) {
  T read{};
  if (size != sizeof read) throw Failure(ACL_ERROR_INVALID_PARAM);
  std::memcpy(&read, value, sizeof read);
  return read;
}

}  // namespace msprof::acl
