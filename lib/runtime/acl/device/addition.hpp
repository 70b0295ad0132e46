// out = self + alpha * other, for tensors with any strides, with broadcasting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "runtime/acl/device/operation.hpp"

namespace msprof::acl {

// Describes a tensor's memory; sizes and strides in elements.
struct TensorView {
  aclDataType type = ACL_FLOAT;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<std::int64_t> dims, strides;
  char* first = nullptr;

  std::int64_t elements() const;
};

// A scalar with the type given by the application.
struct Number {
  aclDataType type = ACL_FLOAT;
  double real = 0;         // exact for floating types, approximate for the others
  std::int64_t whole = 0;  // for integer types and ACL_BOOL
};

bool can_add(aclDataType type);
bool is_floating(aclDataType type);

// Reads the number at `value`. Requires can_add(type).
Number read_number(const void* value, aclDataType type);

// Throws Failure with `code` and a message if types or shapes do not match. `name` is the
// operator's name in profiles.
std::shared_ptr<Operation> make_addition(const std::string& name, const TensorView& self,
                                         const TensorView& other, const Number& alpha,
                                         const TensorView& out, int code);
// The same with a scalar `other`.
std::shared_ptr<Operation> make_addition(const std::string& name, const TensorView& self,
                                         const Number& other, const Number& alpha,
                                         const TensorView& out, int code);

}  // namespace msprof::acl
