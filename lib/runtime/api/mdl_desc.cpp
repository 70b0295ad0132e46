// What a model takes and gives: descriptions and the queries on them.
#include <algorithm>
#include <cstring>
#include <new>

#include "runtime/api/data_buffer.hpp"
#include "runtime/api/runtime_state.hpp"
#include "runtime/include/svp_acl_mdl.h"

namespace {

using msprof::runtime::ApiId;
using msprof::runtime::guarded;
using msprof::runtime::LoadedModel;
using msprof::runtime::RecordedCall;
using msprof::runtime::RuntimeState;
using Port = svp_acl_mdl_desc::Port;

const Port* input_of(const svp_acl_mdl_desc* desc, std::size_t index) {
  return desc != nullptr && index < desc->inputs.size() ? &desc->inputs[index] : nullptr;
}

const Port* output_of(const svp_acl_mdl_desc* desc, std::size_t index) {
  return desc != nullptr && index < desc->outputs.size() ? &desc->outputs[index] : nullptr;
}

std::size_t size_of(const svp_acl_mdl_desc* desc, const Port* port) {
  return port == nullptr ? 0 : static_cast<std::size_t>(port->shape.bytes() * desc->max_batch);
}

std::size_t stride_of(const Port* port) {
  return port == nullptr ? 0 : static_cast<std::size_t>(port->shape.width) * sizeof(float);
}

svp_acl_error fill_dims(const svp_acl_mdl_desc* desc, const Port* port, svp_acl_mdl_io_dims* dims) {
  if (port == nullptr || dims == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *dims = {};
  const std::size_t length = std::min(port->name.size(), sizeof dims->name - 1);
  std::memcpy(dims->name, port->name.data(), length);
  dims->dim_count = 4;
  dims->dims[0] = desc->batch;
  dims->dims[1] = port->shape.channels;
  dims->dims[2] = port->shape.height;
  dims->dims[3] = port->shape.width;
  return SVP_ACL_SUCCESS;
}

svp_acl_error index_by_name(const std::vector<Port>& ports, const char* name, std::size_t* index) {
  const auto it = std::find_if(ports.begin(), ports.end(),
                               [name](const Port& port) { return port.name == name; });
  if (it == ports.end()) return SVP_ACL_ERROR_INVALID_PARAM;
  *index = static_cast<std::size_t>(it - ports.begin());
  return SVP_ACL_SUCCESS;
}

// No model of a host uses pre-processing or secure memory; what remains to be checked is the port.
svp_acl_error no_aipp(uint32_t model_id, bool input, std::size_t index, svp_acl_mdl_aipp_type* type,
                      std::size_t* attached) {
  const std::shared_ptr<LoadedModel> loaded = RuntimeState::instance().find(model_id);
  if (loaded == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
  const auto& ports = input ? loaded->model.inputs() : loaded->model.outputs();
  if (type == nullptr || attached == nullptr || index >= ports.size())
    return SVP_ACL_ERROR_INVALID_PARAM;
  *type = SVP_ACL_DATA_WITHOUT_AIPP;
  *attached = SIZE_MAX;
  return SVP_ACL_SUCCESS;
}

svp_acl_error no_class(const Port* port, std::size_t* class_id) {
  if (port == nullptr || class_id == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *class_id = 0;
  return SVP_ACL_SUCCESS;
}

}  // namespace

extern "C" {

svp_acl_mdl_desc* svp_acl_mdl_create_desc() {
  return new (std::nothrow) svp_acl_mdl_desc;
}

svp_acl_error svp_acl_mdl_destroy_desc(svp_acl_mdl_desc* model_desc) {
  if (model_desc == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  delete model_desc;
  return SVP_ACL_SUCCESS;
}

svp_acl_error svp_acl_mdl_get_desc(svp_acl_mdl_desc* model_desc, uint32_t model_id) {
  return guarded(__func__, [&] {
    RecordedCall call(ApiId::kGetDesc);
    const std::shared_ptr<LoadedModel> loaded = RuntimeState::instance().find(model_id);
    if (loaded == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
    call.names(*loaded);
    if (model_desc == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    *model_desc = {};
    for (const std::size_t tensor : loaded->model.inputs()) {
      model_desc->inputs.push_back(
          {loaded->model.tensor(tensor).name, loaded->model.tensor(tensor).shape});
    }
    for (const std::size_t tensor : loaded->model.outputs()) {
      model_desc->outputs.push_back(
          {loaded->model.tensor(tensor).name, loaded->model.tensor(tensor).shape});
    }
    model_desc->batch = loaded->model.batch();
    model_desc->max_batch = loaded->model.max_batch();
    return SVP_ACL_SUCCESS;
  });
}

size_t svp_acl_mdl_get_num_inputs(const svp_acl_mdl_desc* model_desc) {
  return model_desc == nullptr ? 0 : model_desc->inputs.size();
}

size_t svp_acl_mdl_get_num_outputs(const svp_acl_mdl_desc* model_desc) {
  return model_desc == nullptr ? 0 : model_desc->outputs.size();
}

size_t svp_acl_mdl_get_input_size_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  return size_of(model_desc, input_of(model_desc, index));
}

size_t svp_acl_mdl_get_output_size_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  return size_of(model_desc, output_of(model_desc, index));
}

size_t svp_acl_mdl_get_input_default_stride(const svp_acl_mdl_desc* model_desc, size_t index) {
  return stride_of(input_of(model_desc, index));
}

size_t svp_acl_mdl_get_output_default_stride(const svp_acl_mdl_desc* model_desc, size_t index) {
  return stride_of(output_of(model_desc, index));
}

svp_acl_error svp_acl_mdl_get_input_dims(const svp_acl_mdl_desc* model_desc, size_t index,
                                         svp_acl_mdl_io_dims* dims) {
  return fill_dims(model_desc, input_of(model_desc, index), dims);
}

svp_acl_error svp_acl_mdl_get_output_dims(const svp_acl_mdl_desc* model_desc, size_t index,
                                          svp_acl_mdl_io_dims* dims) {
  return fill_dims(model_desc, output_of(model_desc, index), dims);
}

const char* svp_acl_mdl_get_input_name_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  const Port* port = input_of(model_desc, index);
  return port == nullptr ? nullptr : port->name.c_str();
}

const char* svp_acl_mdl_get_output_name_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  const Port* port = output_of(model_desc, index);
  return port == nullptr ? nullptr : port->name.c_str();
}

svp_acl_format svp_acl_mdl_get_input_format(const svp_acl_mdl_desc* model_desc, size_t index) {
  return input_of(model_desc, index) == nullptr ? SVP_ACL_FORMAT_UNDEFINED : SVP_ACL_FORMAT_NCHW;
}

svp_acl_format svp_acl_mdl_get_output_format(const svp_acl_mdl_desc* model_desc, size_t index) {
  return output_of(model_desc, index) == nullptr ? SVP_ACL_FORMAT_UNDEFINED : SVP_ACL_FORMAT_NCHW;
}

svp_acl_data_type svp_acl_mdl_get_input_data_type(const svp_acl_mdl_desc* model_desc,
                                                  size_t index) {
  return input_of(model_desc, index) == nullptr ? SVP_ACL_DT_UNDEFINED : SVP_ACL_FLOAT;
}

svp_acl_data_type svp_acl_mdl_get_output_data_type(const svp_acl_mdl_desc* model_desc,
                                                   size_t index) {
  return output_of(model_desc, index) == nullptr ? SVP_ACL_DT_UNDEFINED : SVP_ACL_FLOAT;
}

svp_acl_error svp_acl_mdl_get_input_index_by_name(const svp_acl_mdl_desc* model_desc,
                                                  const char* name, size_t* index) {
  if (model_desc == nullptr || name == nullptr || index == nullptr)
    return SVP_ACL_ERROR_INVALID_PARAM;
  return index_by_name(model_desc->inputs, name, index);
}

svp_acl_error svp_acl_mdl_get_output_index_by_name(const svp_acl_mdl_desc* model_desc,
                                                   const char* name, size_t* index) {
  if (model_desc == nullptr || name == nullptr || index == nullptr)
    return SVP_ACL_ERROR_INVALID_PARAM;
  return index_by_name(model_desc->outputs, name, index);
}

svp_acl_inout_reuse_type svp_acl_mdl_get_input_reuse_type(const svp_acl_mdl_desc*, size_t) {
  return SVP_ACL_INOUT_REUSE_NONE;
}

svp_acl_inout_reuse_type svp_acl_mdl_get_output_reuse_type(const svp_acl_mdl_desc*, size_t) {
  return SVP_ACL_INOUT_REUSE_NONE;
}

svp_acl_error svp_acl_mdl_get_input_class_id_by_index(const svp_acl_mdl_desc* model_desc,
                                                      size_t index, size_t* class_id) {
  return no_class(input_of(model_desc, index), class_id);
}

svp_acl_error svp_acl_mdl_get_output_class_id_by_index(const svp_acl_mdl_desc* model_desc,
                                                       size_t index, size_t* class_id) {
  return no_class(output_of(model_desc, index), class_id);
}

svp_acl_error svp_acl_mdl_get_input_aipp_type(uint32_t model_id, size_t index,
                                              svp_acl_mdl_aipp_type* type, size_t* attached_index) {
  return guarded(__func__, [&] { return no_aipp(model_id, true, index, type, attached_index); });
}

svp_acl_error svp_acl_mdl_get_output_aipp_type(uint32_t model_id, size_t index,
                                               svp_acl_mdl_aipp_type* type,
                                               size_t* attached_index) {
  return guarded(__func__, [&] { return no_aipp(model_id, false, index, type, attached_index); });
}

}  // extern "C"
