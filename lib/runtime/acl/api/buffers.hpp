// The opaque structures of acl_base.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"

struct aclDataBuffer {
  void* data;
  std::size_t size;
};

struct aclTensorDesc {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<std::int64_t> dims;
  std::string name;
  // Stored for the application only; nothing here uses them.
  std::vector<std::array<std::int64_t, ACL_TENSOR_SHAPE_RANGE_NUM>> ranges;
  aclFormat storage_format = ACL_FORMAT_UNDEFINED, origin_format = ACL_FORMAT_UNDEFINED;
  std::vector<std::int64_t> storage_dims, origin_dims;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::vector<char> constant;
};
