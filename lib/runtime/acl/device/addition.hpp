// out = self + alpha * other, for tensors of any strides, with broadcasting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "runtime/acl/device/operation.hpp"

namespace msprof::acl {

// Where the elements of a tensor are; sizes and strides in elements.
struct TensorView {
  aclDataType type = ACL_FLOAT;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<std::int64_t> dims, strides;
  char* first = nullptr;

  std::int64_t elements() const;
};

// One number, with the type in which the application gave it.
struct Number {
  aclDataType type = ACL_FLOAT;
  double real = 0;         // of a floating type, and of the others as near as it gets
  std::int64_t whole = 0;  // of an integer type or ACL_BOOL
};

// True for the types that can be added.
bool can_add(aclDataType type);
bool is_floating(aclDataType type);

// Reads the number at `value`. can_add(type) holds.
Number read_number(const void* value, aclDataType type);

// Throws Failure with `code` and a sentence for types and shapes that do not fit. `name` is the
// name of the operator in profiles.
std::shared_ptr<Operation> make_addition(const std::string& name, const TensorView& self,
                                         const TensorView& other, const Number& alpha,
                                         const TensorView& out, int code);
// The same with one number for every element of the other.
std::shared_ptr<Operation> make_addition(const std::string& name, const TensorView& self,
                                         const Number& other, const Number& alpha,
                                         const TensorView& out, int code);

}  // namespace msprof::acl
