// The opaque structures of the C interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/include/svp_acl_mdl.h"
#include "runtime/model/tensor_shape.hpp"

struct svp_acl_data_buffer {
  void* data;
  std::size_t size;
  std::size_t stride;
};

struct svp_acl_mdl_dataset {
  std::vector<svp_acl_data_buffer*> buffers;  // owned by the application
  uint64_t batch = 0;                         // 0: the model's own
};

struct svp_acl_mdl_desc {
  struct Port {
    std::string name;
    msprof::runtime::TensorShape shape;
  };
  std::vector<Port> inputs, outputs;
  int64_t batch = 0;
  int64_t max_batch = 0;
};
