// acl: initialization, data buffers, tensor descriptions.
#include <array>
#include <optional>
#include <vector>

#include "acl/acl.h"
#include "runtime/python/bind.hpp"

namespace msprof::python {

namespace {

aclError init(const std::optional<std::string>& config) {
  return aclInit(config ? config->c_str() : nullptr);
}

std::uintptr_t create_tensor_desc(int type, const std::vector<std::int64_t>& dims, int format) {
  return to_python(aclCreateTensorDesc(static_cast<aclDataType>(type),
                                       static_cast<int>(dims.size()), dims.data(),
                                       static_cast<aclFormat>(format)));
}

void app_log(std::int64_t level, const std::string& text) {
  aclAppLog(static_cast<aclLogLevel>(level), "python", "python", 0, "%s", text.c_str());
}

using Dims = std::vector<std::int64_t>;
using ShapeFunction = aclError (*)(aclTensorDesc*, int, const std::int64_t*);
using Ranges = std::vector<std::array<std::int64_t, 2>>;
using RangeFunction = aclError (*)(aclTensorDesc*, std::size_t, std::int64_t (*)[2]);

template <ShapeFunction function>
aclError set_shape(std::uintptr_t desc, const Dims& dims) {
  return function(Parameter<aclTensorDesc*>::to_c(desc), static_cast<int>(dims.size()),
                  dims.data());
}

template <RangeFunction function>
aclError set_ranges(std::uintptr_t desc, const Ranges& ranges) {
  // The C function does not change the ranges, but its parameter is not const.
  std::vector<std::int64_t> numbers;
  for (const auto& [low, high] : ranges) numbers.insert(numbers.end(), {low, high});
  return function(Parameter<aclTensorDesc*>::to_c(desc), ranges.size(),
                  reinterpret_cast<std::int64_t(*)[2]>(numbers.data()));
}

std::tuple<std::string, aclError> version_text(std::string package) {
  std::array<char, ACL_PKG_VERSION_MAX_SIZE> text = {};
  const aclError code = aclsysGetVersionStr(package.data(), text.data());
  return {text.data(), code};
}

py::tuple cann_version(int package) {
  aclCANNPackageVersion version = {};
  const aclError code = aclsysGetCANNVersion(static_cast<aclCANNPackageName>(package), &version);
  py::dict parts;
  parts["version"] = static_cast<const char*>(version.version);
  parts["major_version"] = static_cast<const char*>(version.majorVersion);
  parts["minor_version"] = static_cast<const char*>(version.minorVersion);
  parts["release_version"] = static_cast<const char*>(version.releaseVersion);
  parts["patch_version"] = static_cast<const char*>(version.patchVersion);
  parts["reserved"] = static_cast<const char*>(version.reserved);
  return py::make_tuple(parts, code);
}

py::tuple cann_attributes(const py::args&) {
  const aclCannAttr* attributes = nullptr;
  std::size_t count = 0;
  const aclError code = aclGetCannAttributeList(&attributes, &count);
  py::list list;
  for (std::size_t i = 0; i < count; ++i) list.append(static_cast<int>(attributes[i]));
  return py::make_tuple(list, count, code);
}

void define_tensors(py::module_& acl) {
  acl.def("create_tensor_desc", &create_tensor_desc, py::call_guard<Unlocked>());
  plain<aclDestroyTensorDesc>(acl, "destroy_tensor_desc");
  plain<aclGetTensorDescType>(acl, "get_tensor_desc_type");
  plain<aclGetTensorDescFormat>(acl, "get_tensor_desc_format");
  plain<aclGetTensorDescSize>(acl, "get_tensor_desc_size");
  plain<aclGetTensorDescElementCount>(acl, "get_tensor_desc_element_count");
  plain<aclGetTensorDescNumDims>(acl, "get_tensor_desc_num_dims");
  plain<aclGetTensorDescDim>(acl, "get_tensor_desc_dim");
  last_out<aclGetTensorDescDimV2>(acl, "get_tensor_desc_dim_v2");
  plain<aclGetTensorDescName>(acl, "get_tensor_desc_name");
  plain<aclSetTensorDescName>(acl, "set_tensor_desc_name");
  plain<aclSetTensorConst>(acl, "set_tensor_const");
  plain<aclSetTensorFormat>(acl, "set_tensor_format");
  plain<aclSetTensorStorageFormat>(acl, "set_tensor_storage_format");
  plain<aclSetTensorOriginFormat>(acl, "set_tensor_origin_format");
  acl.def("set_tensor_shape", &set_shape<aclSetTensorShape>);
  acl.def("set_tensor_storage_shape", &set_shape<aclSetTensorStorageShape>);
  acl.def("set_tensor_origin_shape", &set_shape<aclSetTensorOriginShape>);
  acl.def("set_tensor_shape_range", &set_ranges<aclSetTensorShapeRange>);
  acl.def("set_tensor_value_range", &set_ranges<aclSetTensorValueRange>);
  plain<aclSetTensorDynamicInput>(acl, "set_tensor_dynamic_input");
  plain<aclSetTensorPlaceMent>(acl, "set_tensor_place_ment");
  last_out<aclTransTensorDescFormat>(acl, "trans_tensor_desc_format");
}

}  // namespace

void define_base(py::module_& acl) {
  acl.def("init", &init, py::arg("config_path") = py::none(), py::call_guard<Unlocked>());
  plain<aclFinalize>(acl, "finalize");
  plain<aclGetRecentErrMsg>(acl, "get_recent_err_msg");
  plain<aclrtGetSocName>(acl, "get_soc_name");
  first_out<aclrtGetVersion, 3>(acl, "get_version");
  first_out<aclFinalizeReference>(acl, "finalize_reference");
  acl.def("get_version_str", &version_text);
  acl.def("get_cann_version", &cann_version);
  acl.def("get_cann_attribute_list", &cann_attributes);
  last_out<aclGetCannAttribute>(acl, "get_cann_attribute");
  last_out<aclGetDeviceCapability>(acl, "get_device_capability");
  plain<aclFloat16ToFloat>(acl, "float16_to_float");
  plain<aclFloatToFloat16>(acl, "float_to_float16");
  acl.def("app_log", &app_log, py::call_guard<Unlocked>());

  plain<aclCreateDataBuffer>(acl, "create_data_buffer");
  plain<aclDestroyDataBuffer>(acl, "destroy_data_buffer");
  plain<aclUpdateDataBuffer>(acl, "update_data_buffer");
  plain<aclGetDataBufferAddr>(acl, "get_data_buffer_addr");
  plain<aclGetDataBufferSize>(acl, "get_data_buffer_size");
  plain<aclGetDataBufferSizeV2>(acl, "get_data_buffer_size_v2");
  plain<aclDataTypeSize>(acl, "data_type_size");

  define_tensors(acl);
}

}  // namespace msprof::python
