// Models: descriptions.
#include <algorithm>
#include <cstring>
#include <new>

#include "acl/acl_mdl.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/api/models.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

using msprof::runtime::Model;
using Port = aclmdlDesc::Port;

constexpr std::int64_t kOpenDimension = -1;

Port make_port(const Model& model, std::size_t tensor) {
  const msprof::runtime::Tensor& described = model.tensor(tensor);
  return {
      described.name,
      {model.max_batch(), described.shape.channels, described.shape.height, described.shape.width}};
}

void describe(aclmdlDesc& desc, const Model& model, std::uint32_t id) {
  aclmdlDesc made;
  for (const std::size_t tensor : model.inputs()) made.inputs.push_back(make_port(model, tensor));
  for (const std::size_t tensor : model.outputs()) made.outputs.push_back(make_port(model, tensor));
  made.batch = model.batch();
  made.max_batch = model.max_batch();
  if (made.max_batch > made.batch) {
    made.inputs.push_back({ACL_DYNAMIC_TENSOR_NAME, {1}, ACL_INT64, ACL_FORMAT_ND, false});
  }
  made.model = id;
  desc = std::move(made);
}

const Port* find_port(const std::vector<Port>& ports, std::size_t index) {
  return index < ports.size() ? &ports[index] : nullptr;
}
const Port* find_input(const aclmdlDesc* desc, std::size_t index) {
  return desc == nullptr ? nullptr : find_port(desc->inputs, index);
}
const Port* find_output(const aclmdlDesc* desc, std::size_t index) {
  return desc == nullptr ? nullptr : find_port(desc->outputs, index);
}

std::size_t port_bytes(const Port* port) {
  if (port == nullptr) return 0;
  std::size_t bytes = aclDataTypeSize(port->type);
  for (const std::int64_t dim : port->dims) bytes *= static_cast<std::size_t>(dim);
  return bytes;
}

aclError fill_dims(const Port* port, std::int64_t batch, aclmdlIODims* dims) {
  if (port == nullptr || dims == nullptr) return ACL_ERROR_INVALID_PARAM;
  *dims = {};
  std::memcpy(dims->name, port->name.data(), std::min(port->name.size(), sizeof dims->name - 1));
  dims->dimCount = port->dims.size();
  std::copy(port->dims.begin(), port->dims.end(), dims->dims);
  if (port->is_batched) dims->dims[0] = batch;
  return ACL_SUCCESS;
}

// Inputs of a model with a dynamic batch have an unknown dimension; outputs have their maximum
// size.
aclError input_dims(const aclmdlDesc* desc, std::size_t index, aclmdlIODims* dims) {
  const bool open = desc != nullptr && desc->max_batch > desc->batch;
  return fill_dims(find_input(desc, index), open ? kOpenDimension : desc ? desc->batch : 0, dims);
}

aclError find_index(const std::vector<Port>& ports, const char* name, std::size_t* index) {
  const auto it = std::find_if(ports.begin(), ports.end(),
                               [name](const Port& port) { return port.name == name; });
  if (it == ports.end()) return ACL_ERROR_INVALID_PARAM;
  *index = static_cast<std::size_t>(it - ports.begin());
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

aclmdlDesc* aclmdlCreateDesc() {
  return new (std::nothrow) aclmdlDesc;
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  if (modelDesc == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete modelDesc;
  return ACL_SUCCESS;
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return recorded(__func__, Call::aclmdlGetDesc, [&] {
    require(modelDesc);
    describe(*modelDesc, Runtime::instance().find_model(modelId)->model(), modelId);
  });
}

aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath) {
  return recorded(__func__, Call::aclmdlGetDescFromFile, [&] {
    require(modelDesc);
    describe(*modelDesc, read_model(modelPath), 0);
  });
}

aclError aclmdlGetDescFromMem(aclmdlDesc* modelDesc, const void* model, size_t modelSize) {
  return recorded(__func__, Call::aclmdlGetDescFromMem, [&] {
    require(modelDesc);
    describe(*modelDesc, parse_model(model, modelSize), 0);
  });
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) {
  return modelDesc == nullptr ? 0 : modelDesc->inputs.size();
}

size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) {
  return modelDesc == nullptr ? 0 : modelDesc->outputs.size();
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return port_bytes(find_input(modelDesc, index));
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return port_bytes(find_output(modelDesc, index));
}

const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  const Port* port = find_input(modelDesc, index);
  return port == nullptr ? nullptr : port->name.c_str();
}

const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  const Port* port = find_output(modelDesc, index);
  return port == nullptr ? nullptr : port->name.c_str();
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  const Port* port = find_input(modelDesc, index);
  return port == nullptr ? ACL_FORMAT_UNDEFINED : port->format;
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  const Port* port = find_output(modelDesc, index);
  return port == nullptr ? ACL_FORMAT_UNDEFINED : port->format;
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  const Port* port = find_input(modelDesc, index);
  return port == nullptr ? ACL_DT_UNDEFINED : port->type;
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  const Port* port = find_output(modelDesc, index);
  return port == nullptr ? ACL_DT_UNDEFINED : port->type;
}

aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return input_dims(modelDesc, index, dims);
}

aclError aclmdlGetInputDimsV2(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return input_dims(modelDesc, index, dims);
}

aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return fill_dims(find_output(modelDesc, index), modelDesc == nullptr ? 0 : modelDesc->max_batch,
                   dims);
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return recorded(__func__, Call::aclmdlGetCurOutputDims, [&]() -> aclError {
    require(modelDesc, dims);
    const std::int64_t batch =
        Runtime::instance().find_model(modelDesc->model)->current_batch.load();
    return fill_dims(find_output(modelDesc, index), batch, dims);
  });
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  if (modelDesc == nullptr || name == nullptr || index == nullptr) return ACL_ERROR_INVALID_PARAM;
  return find_index(modelDesc->inputs, name, index);
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  if (modelDesc == nullptr || name == nullptr || index == nullptr) return ACL_ERROR_INVALID_PARAM;
  return find_index(modelDesc->outputs, name, index);
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return recorded(__func__, Call::aclmdlGetDynamicBatch, [&] {
    require(modelDesc, batch);
    *batch = {};
    if (modelDesc->max_batch <= modelDesc->batch) return;
    // Every batch up to the largest is possible. If the list is too short for all, it contains the
    // powers of two and the largest.
    const auto largest = static_cast<std::uint64_t>(modelDesc->max_batch);
    const bool all = largest <= ACL_MAX_BATCH_NUM;
    for (std::uint64_t size = 1; size < largest; size = all ? size + 1 : size * 2) {
      batch->batch[batch->batchCount++] = size;
    }
    batch->batch[batch->batchCount++] = largest;
  });
}

}  // extern "C"
