// acl.mdl: models, their descriptions, datasets.
#include <algorithm>
#include <memory>

#include "acl/acl.h"
#include "runtime/python/bind.hpp"

namespace msprof::python {

namespace {

using DescFunction = aclError (*)(const aclmdlDesc*, std::size_t, aclmdlIODims*);

// Returns {"name", "dimCount", "dims"} and the code.
template <DescFunction function>
py::tuple dims(std::uintptr_t desc, std::size_t index) {
  const auto dims = std::make_unique<aclmdlIODims>();
  const aclError code = function(Parameter<aclmdlDesc*>::to_c(desc), index, dims.get());
  py::dict result;
  if (code == ACL_SUCCESS) {
    py::list values;
    for (std::size_t i = 0; i < std::min<std::size_t>(dims->dimCount, ACL_MAX_DIM_CNT); ++i)
      values.append(dims->dims[i]);
    result["name"] = py::str(&dims->name[0]);
    result["dimCount"] = dims->dimCount;
    result["dims"] = values;
  }
  return py::make_tuple(result, code);
}

// Returns {"batchCount", "batch"} and the code.
py::tuple dynamic_batch(std::uintptr_t desc) {
  const auto batch = std::make_unique<aclmdlBatch>();
  const aclError code = aclmdlGetDynamicBatch(Parameter<aclmdlDesc*>::to_c(desc), batch.get());
  py::dict result;
  if (code == ACL_SUCCESS) {
    py::list values;
    for (std::size_t i = 0; i < std::min<std::size_t>(batch->batchCount, ACL_MAX_BATCH_NUM); ++i)
      values.append(batch->batch[i]);
    result["batchCount"] = batch->batchCount;
    result["batch"] = values;
  }
  return py::make_tuple(result, code);
}

// Returns {"hwCount", "hw": [[height, width], …]} and the code.
py::tuple dynamic_hw(std::uintptr_t desc, std::size_t index) {
  const auto sizes = std::make_unique<aclmdlHW>();
  const aclError code = aclmdlGetDynamicHW(Parameter<aclmdlDesc*>::to_c(desc), index, sizes.get());
  py::dict result;
  if (code == ACL_SUCCESS) {
    py::list values;
    for (std::size_t i = 0; i < std::min<std::size_t>(sizes->hwCount, ACL_MAX_HW_NUM); ++i) {
      py::list pair;
      pair.append(sizes->hw[i][0]);
      pair.append(sizes->hw[i][1]);
      values.append(pair);
    }
    result["hwCount"] = sizes->hwCount;
    result["hw"] = values;
  }
  return py::make_tuple(result, code);
}

// Returns the dataset and the code.
py::tuple add_dataset_buffer(std::uintptr_t dataset, std::uintptr_t buffer) {
  return py::make_tuple(dataset, aclmdlAddDatasetBuffer(Parameter<aclmdlDataset*>::to_c(dataset),
                                                        Parameter<aclDataBuffer*>::to_c(buffer)));
}

py::tuple set_dataset_tensor_desc(std::uintptr_t dataset, std::uintptr_t desc, std::size_t index) {
  return py::make_tuple(dataset,
                        aclmdlSetDatasetTensorDesc(Parameter<aclmdlDataset*>::to_c(dataset),
                                                   Parameter<aclTensorDesc*>::to_c(desc), index));
}

// Cannot use define(): in C, the output parameter for the model id is between the path and the
// memory arguments.
std::tuple<std::uint32_t, aclError> load_from_file_with_mem(const char* path, std::uintptr_t work,
                                                            std::size_t work_size,
                                                            std::uintptr_t weight,
                                                            std::size_t weight_size) {
  std::uint32_t model = 0;
  const aclError code =
      aclmdlLoadFromFileWithMem(path, &model, Parameter<void*>::to_c(work), work_size,
                                Parameter<void*>::to_c(weight), weight_size);
  return {model, code};
}

std::tuple<std::uint32_t, aclError> load_from_mem_with_mem(std::uintptr_t bytes, std::size_t size,
                                                           std::uintptr_t work,
                                                           std::size_t work_size,
                                                           std::uintptr_t weight,
                                                           std::size_t weight_size) {
  std::uint32_t model = 0;
  const aclError code = aclmdlLoadFromMemWithMem(Parameter<void*>::to_c(bytes), size, &model,
                                                 Parameter<void*>::to_c(work), work_size,
                                                 Parameter<void*>::to_c(weight), weight_size);
  return {model, code};
}

// pyACL passes 32-bit numbers; attributes with the size of a pointer are widened.
aclError set_exec_config_opt(std::uintptr_t handle, std::int64_t attribute, std::int64_t value) {
  auto* const config = Parameter<aclmdlExecConfigHandle*>::to_c(handle);
  const auto attr = static_cast<aclmdlExecConfigAttr>(attribute);
  const auto timeout = static_cast<std::int32_t>(value);
  if (attr == ACL_MDL_STREAM_SYNC_TIMEOUT || attr == ACL_MDL_EVENT_SYNC_TIMEOUT)
    return aclmdlSetExecConfigOpt(config, attr, &timeout, sizeof timeout);
  return aclmdlSetExecConfigOpt(config, attr, &value, sizeof value);
}

void define_descriptions(py::module_& mdl) {
  plain<aclmdlCreateDesc>(mdl, "create_desc");
  plain<aclmdlDestroyDesc>(mdl, "destroy_desc");
  plain<aclmdlGetDesc>(mdl, "get_desc");
  plain<aclmdlGetNumInputs>(mdl, "get_num_inputs");
  plain<aclmdlGetNumOutputs>(mdl, "get_num_outputs");
  plain<aclmdlGetInputSizeByIndex>(mdl, "get_input_size_by_index");
  plain<aclmdlGetOutputSizeByIndex>(mdl, "get_output_size_by_index");
  plain<aclmdlGetInputNameByIndex>(mdl, "get_input_name_by_index");
  plain<aclmdlGetOutputNameByIndex>(mdl, "get_output_name_by_index");
  plain<aclmdlGetInputFormat>(mdl, "get_input_format");
  plain<aclmdlGetOutputFormat>(mdl, "get_output_format");
  plain<aclmdlGetInputDataType>(mdl, "get_input_data_type");
  plain<aclmdlGetOutputDataType>(mdl, "get_output_data_type");
  last_out<aclmdlGetInputIndexByName>(mdl, "get_input_index_by_name");
  last_out<aclmdlGetOutputIndexByName>(mdl, "get_output_index_by_name");
  mdl.def("get_input_dims", &dims<aclmdlGetInputDims>);
  mdl.def("get_input_dims_v2", &dims<aclmdlGetInputDimsV2>);
  mdl.def("get_output_dims", &dims<aclmdlGetOutputDims>);
  mdl.def("get_cur_output_dims", &dims<aclmdlGetCurOutputDims>);
  mdl.def("get_dynamic_batch", &dynamic_batch);
  mdl.def("get_dynamic_hw", &dynamic_hw);
}

void define_datasets(py::module_& mdl) {
  plain<aclmdlCreateDataset>(mdl, "create_dataset");
  plain<aclmdlDestroyDataset>(mdl, "destroy_dataset");
  mdl.def("add_dataset_buffer", &add_dataset_buffer);
  plain<aclmdlGetDatasetNumBuffers>(mdl, "get_dataset_num_buffers");
  plain<aclmdlGetDatasetBuffer>(mdl, "get_dataset_buffer");
  mdl.def("set_dataset_tensor_desc", &set_dataset_tensor_desc);
  plain<aclmdlGetDatasetTensorDesc>(mdl, "get_dataset_tensor_desc");
  plain<aclmdlSetDynamicBatchSize>(mdl, "set_dynamic_batch_size");
  plain<aclmdlSetDynamicHWSize>(mdl, "set_dynamic_hw_size");
}

}  // namespace

void define_models(py::module_& mdl) {
  last_out<aclmdlQuerySize, 2>(mdl, "query_size");
  last_out<aclmdlLoadFromFile>(mdl, "load_from_file");
  last_out<aclmdlLoadFromMem>(mdl, "load_from_mem");
  mdl.def("load_from_file_with_mem", &load_from_file_with_mem, py::call_guard<Unlocked>());
  mdl.def("load_from_mem_with_mem", &load_from_mem_with_mem, py::call_guard<Unlocked>());
  plain<aclmdlUnload>(mdl, "unload");
  plain<aclmdlExecute>(mdl, "execute");
  plain<aclmdlExecuteAsync>(mdl, "execute_async");
  plain<aclmdlExecuteV2>(mdl, "execute_v2");
  plain<aclmdlCreateExecConfigHandle>(mdl, "create_exec_config_handle");
  plain<aclmdlDestroyExecConfigHandle>(mdl, "destroy_exec_config_handle");
  mdl.def("set_exec_config_opt", &set_exec_config_opt);
  define_descriptions(mdl);
  define_datasets(mdl);
}

}  // namespace msprof::python
