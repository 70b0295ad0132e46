// acl.op: the subset of single-operator functions that Python programs use.
#include <vector>

#include "acl/acl.h"
#include "runtime/python/bind.hpp"

namespace msprof::python {

namespace {

template <typename T>
std::vector<T*> pointers(const std::vector<std::uintptr_t>& numbers) {
  std::vector<T*> result;
  for (const std::uintptr_t number : numbers) result.push_back(reinterpret_cast<T*>(number));
  return result;
}

using Numbers = std::vector<std::uintptr_t>;

// Each tensor description must have its own buffer.
aclError execute_v2(const char* type, const Numbers& input_descs, const Numbers& inputs,
                    const Numbers& output_descs, const Numbers& outputs, std::uintptr_t attr,
                    std::uintptr_t stream) {
  if (input_descs.size() != inputs.size() || output_descs.size() != outputs.size())
    return ACL_ERROR_INVALID_PARAM;
  auto in_descs = pointers<aclTensorDesc>(input_descs),
       out_descs = pointers<aclTensorDesc>(output_descs);
  auto in = pointers<aclDataBuffer>(inputs), out = pointers<aclDataBuffer>(outputs);
  return aclopExecuteV2(type, static_cast<int>(in.size()), in_descs.data(), in.data(),
                        static_cast<int>(out.size()), out_descs.data(), out.data(),
                        Parameter<aclopAttr*>::to_c(attr), Parameter<aclrtStream>::to_c(stream));
}

std::tuple<std::uintptr_t, aclError> create_handle(const char* type, const Numbers& input_descs,
                                                   const Numbers& output_descs,
                                                   std::uintptr_t attr) {
  const auto in = pointers<const aclTensorDesc>(input_descs),
             out = pointers<const aclTensorDesc>(output_descs);
  aclopHandle* handle = nullptr;
  const aclError code =
      aclopCreateHandle(type, static_cast<int>(in.size()), in.data(), static_cast<int>(out.size()),
                        out.data(), Parameter<aclopAttr*>::to_c(attr), &handle);
  return {to_python(handle), code};
}

aclError execute_with_handle(std::uintptr_t handle, const Numbers& inputs, const Numbers& outputs,
                             std::uintptr_t stream) {
  const auto in = pointers<const aclDataBuffer>(inputs);
  const auto out = pointers<aclDataBuffer>(outputs);
  return aclopExecWithHandle(Parameter<aclopHandle*>::to_c(handle), static_cast<int>(in.size()),
                             in.data(), static_cast<int>(out.size()), out.data(),
                             Parameter<aclrtStream>::to_c(stream));
}

}  // namespace

void define_operators(py::module_& op) {
  plain<aclopSetModelDir>(op, "set_model_dir");
  plain<aclopCreateAttr>(op, "create_attr");
  plain<aclopDestroyAttr>(op, "destroy_attr");
  plain<aclopSetAttrBool>(op, "set_attr_bool");
  plain<aclopSetAttrInt>(op, "set_attr_int");
  plain<aclopSetAttrFloat>(op, "set_attr_float");
  plain<aclopSetAttrString>(op, "set_attr_string");
  op.def("execute_v2", &execute_v2, py::call_guard<Unlocked>());
  op.def("create_handle", &create_handle, py::call_guard<Unlocked>());
  plain<aclopDestroyHandle>(op, "destroy_handle");
  op.def("execute_with_handle", &execute_with_handle, py::call_guard<Unlocked>());
  plain<aclopCast>(op, "cast");
}

}  // namespace msprof::python
