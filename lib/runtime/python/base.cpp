// acl: start and end, data buffers, descriptions of tensors.
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

}  // namespace

void define_base(py::module_& acl) {
  acl.def("init", &init, py::arg("config_path") = py::none(), py::call_guard<Unlocked>());
  plain<aclFinalize>(acl, "finalize");
  plain<aclGetRecentErrMsg>(acl, "get_recent_err_msg");
  plain<aclrtGetSocName>(acl, "get_soc_name");
  acl.def("app_log", &app_log, py::call_guard<Unlocked>());

  plain<aclCreateDataBuffer>(acl, "create_data_buffer");
  plain<aclDestroyDataBuffer>(acl, "destroy_data_buffer");
  plain<aclUpdateDataBuffer>(acl, "update_data_buffer");
  plain<aclGetDataBufferAddr>(acl, "get_data_buffer_addr");
  plain<aclGetDataBufferSize>(acl, "get_data_buffer_size");
  plain<aclGetDataBufferSizeV2>(acl, "get_data_buffer_size_v2");
  plain<aclDataTypeSize>(acl, "data_type_size");

  acl.def("create_tensor_desc", &create_tensor_desc, py::call_guard<Unlocked>());
  plain<aclDestroyTensorDesc>(acl, "destroy_tensor_desc");
  plain<aclGetTensorDescType>(acl, "get_tensor_desc_type");
  plain<aclGetTensorDescFormat>(acl, "get_tensor_desc_format");
  plain<aclGetTensorDescSize>(acl, "get_tensor_desc_size");
  plain<aclGetTensorDescElementCount>(acl, "get_tensor_desc_element_count");
  plain<aclGetTensorDescNumDims>(acl, "get_tensor_desc_num_dims");
  last_out<aclGetTensorDescDimV2>(acl, "get_tensor_desc_dim_v2");
  plain<aclGetTensorDescName>(acl, "get_tensor_desc_name");
  plain<aclSetTensorDescName>(acl, "set_tensor_desc_name");
  plain<aclSetTensorConst>(acl, "set_tensor_const");
}

}  // namespace msprof::python
