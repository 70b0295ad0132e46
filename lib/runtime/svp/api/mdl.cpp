// Descriptions of model inputs and outputs, and queries on them.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "runtime/svp/api/profiling.hpp"
#include "runtime/svp/api/runtime_state.hpp"
#include "runtime/svp/include/svp_acl_ext.h"
#include "runtime/svp/include/svp_acl_mdl.h"

namespace {

using msprof::runtime::ApiId;
using msprof::runtime::ExecutionRecorder;
using msprof::runtime::guarded;
using msprof::runtime::is_subscribed;
using msprof::runtime::LoadedSvpModel;
using msprof::runtime::Model;
using msprof::runtime::ModelProfile;
using msprof::runtime::RecordedSvpCall;
using msprof::runtime::RuntimeState;
using msprof::runtime::say;
using msprof::runtime::SubscriptionObserver;
using msprof::runtime::TensorShape;
using msprof::runtime::Workspace;

// The task buffer and the work buffer follow the model's own inputs. A board needs their memory;
// programs written for boards create them and set the batch through the index of the task buffer.
constexpr std::size_t kExtraInputs = 2;
constexpr const char* kWorkBufferName = "svp_acl_work_buf";
constexpr std::size_t kExtraInputBytes = 64;  // programs expect nonzero sizes and strides

// Borrows a workspace from the model and returns it on destruction.
class BorrowedWorkspace {
 public:
  explicit BorrowedWorkspace(LoadedSvpModel& model)
      : model_(model), workspace_(model.take_workspace()) {}
  ~BorrowedWorkspace() { model_.give_back(std::move(workspace_)); }
  BorrowedWorkspace(const BorrowedWorkspace&) = delete;
  BorrowedWorkspace& operator=(const BorrowedWorkspace&) = delete;

  Workspace& operator*() const { return *workspace_; }

 private:
  LoadedSvpModel& model_;
  std::unique_ptr<Workspace> workspace_;
};

// The rows of a whole batch inside an application buffer.
struct Rows {
  std::size_t count, bytes, stride;
};

// Returns nullopt and prints a message if the buffer is too small for the rows.
std::optional<Rows> view_rows(const svp_acl_data_buffer* buffer, const TensorShape& shape,
                              int64_t batch, const char* side, std::size_t index) {
  const auto bytes = static_cast<std::size_t>(shape.width) * sizeof(float);
  const auto count = static_cast<std::size_t>(batch * shape.channels * shape.height);
  const std::string place =
      std::string("svp_acl_mdl_execute: ") + side + " " + std::to_string(index);
  if (buffer == nullptr || buffer->data == nullptr) {
    say(place + " has no memory");
    return std::nullopt;
  }
  const std::size_t stride = buffer->stride == 0 ? bytes : buffer->stride;
  const bool fits =
      stride >= bytes && buffer->size >= bytes && (count - 1) <= (buffer->size - bytes) / stride;
  if (!fits) {
    say(place + " needs " + std::to_string(count) + " rows of " + std::to_string(bytes) +
        " bytes, the buffer has " + std::to_string(buffer->size) + " bytes with stride " +
        std::to_string(stride));
    return std::nullopt;
  }
  return Rows{count, bytes, stride};
}

void copy_rows(const Rows& rows, const void* from, std::size_t from_stride, void* to,
               std::size_t to_stride) {
  if (from_stride == rows.bytes && to_stride == rows.bytes) {
    std::memcpy(to, from, rows.bytes * rows.count);
    return;
  }
  for (std::size_t row = 0; row < rows.count; ++row) {
    std::memcpy(static_cast<char*>(to) + row * to_stride,
                static_cast<const char*>(from) + row * from_stride, rows.bytes);
  }
}

// Checks the inputs or the outputs of an execution. Returns the rows of every tensor, or nullopt on
// error.
std::optional<std::vector<Rows>> check_side(const Model& model,
                                            const std::vector<std::size_t>& tensors,
                                            const svp_acl_mdl_dataset& dataset, int64_t batch,
                                            const char* side, std::size_t extra_buffers) {
  if (dataset.buffers.size() != tensors.size() &&
      dataset.buffers.size() != tensors.size() + extra_buffers) {
    say(std::string("svp_acl_mdl_execute: the model has ") + std::to_string(tensors.size()) + " " +
        side + (tensors.size() == 1 ? ", the dataset " : "s, the dataset ") +
        std::to_string(dataset.buffers.size()));
    return std::nullopt;
  }
  std::vector<Rows> all;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::optional<Rows> rows =
        view_rows(dataset.buffers[i], model.tensor(tensors[i]).shape, batch, side, i);
    if (!rows) return std::nullopt;
    all.push_back(*rows);
  }
  return all;
}

void run_model(LoadedSvpModel& loaded, Workspace& workspace, int64_t batch, ModelProfile* profile) {
  const auto images = static_cast<uint64_t>(batch);
  if (profile != nullptr) {
    ExecutionRecorder recorder(*profile, loaded.model, profile->next_execution(), images);
    loaded.model.run(workspace, batch, recorder.has_captured() ? &recorder : nullptr);
    return;
  }
  if (is_subscribed(loaded.id)) {
    SubscriptionObserver observer(loaded.id, loaded.model, images);
    loaded.model.run(workspace, batch, &observer);
    return;
  }
  if (RuntimeState::instance().is_unprofiled_child()) {
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    if (!said.test_and_set())
      say("this process was forked after svp_acl_init: only its parent is profiled");
  }
  loaded.model.run(workspace, batch, nullptr);
}

svp_acl_error execute(LoadedSvpModel& loaded, const svp_acl_mdl_dataset& input,
                      const svp_acl_mdl_dataset& output, ModelProfile* profile) {
  const Model& model = loaded.model;
  const int64_t batch = input.batch == 0 ? model.batch() : static_cast<int64_t>(input.batch);
  const auto from = check_side(model, model.inputs(), input, batch, "input", kExtraInputs);
  if (!from) return SVP_ACL_ERROR_INVALID_PARAM;
  const auto to = check_side(model, model.outputs(), output, batch, "output", 0);
  if (!to) return SVP_ACL_ERROR_INVALID_PARAM;

  const BorrowedWorkspace workspace(loaded);
  model.prepare(*workspace, batch);
  for (std::size_t i = 0; i < from->size(); ++i) {
    const Rows& rows = (*from)[i];
    copy_rows(rows, input.buffers[i]->data, rows.stride,
              model.values(*workspace, model.inputs()[i]), rows.bytes);
  }
  run_model(loaded, *workspace, batch, profile);
  for (std::size_t i = 0; i < to->size(); ++i) {
    const Rows& rows = (*to)[i];
    copy_rows(rows, model.values(*workspace, model.outputs()[i]), rows.bytes,
              output.buffers[i]->data, rows.stride);
  }
  return SVP_ACL_SUCCESS;
}

using Port = svp_acl_mdl_desc::Port;

const Port* find_input(const svp_acl_mdl_desc* desc, std::size_t index) {
  return desc != nullptr && index < desc->inputs.size() ? &desc->inputs[index] : nullptr;
}

const Port* find_output(const svp_acl_mdl_desc* desc, std::size_t index) {
  return desc != nullptr && index < desc->outputs.size() ? &desc->outputs[index] : nullptr;
}

std::size_t port_bytes(const svp_acl_mdl_desc* desc, const Port* port) {
  if (port == nullptr) return 0;
  if (port->buffer_bytes != 0) return port->buffer_bytes;
  return static_cast<std::size_t>(port->shape.bytes() * desc->max_batch);
}

std::size_t port_stride(const Port* port) {
  if (port == nullptr) return 0;
  if (port->buffer_bytes != 0) return port->buffer_bytes;
  return static_cast<std::size_t>(port->shape.width) * sizeof(float);
}

svp_acl_format port_format(const Port* port) {
  if (port == nullptr) return SVP_ACL_FORMAT_UNDEFINED;
  return port->buffer_bytes != 0 ? SVP_ACL_FORMAT_ND : SVP_ACL_FORMAT_NCHW;
}

svp_acl_data_type port_data_type(const Port* port) {
  if (port == nullptr) return SVP_ACL_DT_UNDEFINED;
  return port->buffer_bytes != 0 ? SVP_ACL_UINT8 : SVP_ACL_FLOAT;
}

svp_acl_error fill_dims(const svp_acl_mdl_desc* desc, const Port* port, svp_acl_mdl_io_dims* dims) {
  if (port == nullptr || dims == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *dims = {};
  const std::size_t length = std::min(port->name.size(), sizeof dims->name - 1);
  std::memcpy(dims->name, port->name.data(), length);
  if (port->buffer_bytes != 0) {
    dims->dim_count = 1;
    dims->dims[0] = static_cast<int64_t>(port->buffer_bytes);
    return SVP_ACL_SUCCESS;
  }
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

// Host models never use pre-processing or secure memory; only the port index is checked.
svp_acl_error no_aipp(uint32_t model_id, bool input, std::size_t index, svp_acl_mdl_aipp_type* type,
                      std::size_t* attached) {
  const std::shared_ptr<LoadedSvpModel> loaded = RuntimeState::instance().find(model_id);
  if (loaded == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
  const std::size_t ports =
      input ? loaded->model.inputs().size() + kExtraInputs : loaded->model.outputs().size();
  if (type == nullptr || attached == nullptr || index >= ports) return SVP_ACL_ERROR_INVALID_PARAM;
  *type = SVP_ACL_DATA_WITHOUT_AIPP;
  *attached = SVP_ACL_INVALID_NODE_INDEX;
  return SVP_ACL_SUCCESS;
}

// Returns a property that is the same for all host models.
svp_acl_error fixed_property(uint32_t model_id, uint32_t value, uint32_t* result) {
  if (RuntimeState::instance().find(model_id) == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
  if (result == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *result = value;
  return SVP_ACL_SUCCESS;
}

svp_acl_error no_class(const Port* port, std::size_t* class_id) {
  if (port == nullptr || class_id == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
  *class_id = 0;
  return SVP_ACL_SUCCESS;
}

}  // namespace

extern "C" {

svp_acl_error svp_acl_mdl_load_from_mem(const void* model, size_t model_size, uint32_t* model_id) {
  return guarded(__func__, [&]() -> svp_acl_error {
    if (!RuntimeState::instance().is_initialised()) return SVP_ACL_ERROR_UNINITIALIZE;
    if (model == nullptr || model_size == 0 || model_id == nullptr)
      return SVP_ACL_ERROR_INVALID_PARAM;
    return RuntimeState::instance().load(model, model_size, model_id);
  });
}

svp_acl_error svp_acl_mdl_unload(uint32_t model_id) {
  return guarded(__func__, [&] { return RuntimeState::instance().unload(model_id); });
}

svp_acl_error svp_acl_mdl_execute(uint32_t model_id, const svp_acl_mdl_dataset* input,
                                  const svp_acl_mdl_dataset* output) {
  return guarded(__func__, [&]() -> svp_acl_error {
    // Look up and hold the model before recording the call, so that unload waits until the record
    // is written.
    const std::shared_ptr<LoadedSvpModel> loaded = RuntimeState::instance().find(model_id);
    if (loaded == nullptr) {
      const RecordedSvpCall call(ApiId::kExecute);
      return SVP_ACL_ERROR_INVALID_MODEL_ID;
    }
    const std::shared_lock in_use(loaded->in_use);
    RecordedSvpCall call(ApiId::kExecute);
    call.names(*loaded);
    if (input == nullptr || output == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    return execute(*loaded, *input, *output, call.profile());
  });
}

svp_acl_error svp_acl_mdl_set_dynamic_batch_size(uint32_t model_id, svp_acl_mdl_dataset* dataset,
                                                 size_t index, uint64_t batch_size) {
  return guarded(__func__, [&]() -> svp_acl_error {
    const std::shared_ptr<LoadedSvpModel> loaded = RuntimeState::instance().find(model_id);
    if (loaded == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
    // Accepts the index of the dynamic tensor or of any model input.
    if (dataset == nullptr || index > loaded->model.inputs().size())
      return SVP_ACL_ERROR_INVALID_PARAM;
    if (batch_size == 0 || batch_size > static_cast<uint64_t>(loaded->model.max_batch())) {
      say("svp_acl_mdl_set_dynamic_batch_size: the batch must be 1 to " +
          std::to_string(loaded->model.max_batch()));
      return SVP_ACL_ERROR_INVALID_PARAM;
    }
    dataset->batch = batch_size;
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_mdl_dataset* svp_acl_mdl_create_dataset() {
  svp_acl_mdl_dataset* dataset = nullptr;
  guarded(__func__, [&] {
    const RecordedSvpCall call(ApiId::kCreateDataset);
    dataset = new svp_acl_mdl_dataset;
    return SVP_ACL_SUCCESS;
  });
  return dataset;
}

svp_acl_error svp_acl_mdl_destroy_dataset(const svp_acl_mdl_dataset* dataset) {
  return guarded(__func__, [&] {
    const RecordedSvpCall call(ApiId::kDestroyDataset);
    if (dataset == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    delete dataset;
    return SVP_ACL_SUCCESS;
  });
}

svp_acl_error svp_acl_mdl_add_dataset_buffer(svp_acl_mdl_dataset* dataset,
                                             svp_acl_data_buffer* data_buffer) {
  return guarded(__func__, [&] {
    if (dataset == nullptr || data_buffer == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    dataset->buffers.push_back(data_buffer);
    return SVP_ACL_SUCCESS;
  });
}

size_t svp_acl_mdl_get_dataset_num_buffers(const svp_acl_mdl_dataset* dataset) {
  return dataset == nullptr ? 0 : dataset->buffers.size();
}

svp_acl_data_buffer* svp_acl_mdl_get_dataset_buffer(const svp_acl_mdl_dataset* dataset,
                                                    size_t index) {
  return dataset != nullptr && index < dataset->buffers.size() ? dataset->buffers[index] : nullptr;
}

}  // extern "C"

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
    RecordedSvpCall call(ApiId::kGetDesc);
    const std::shared_ptr<LoadedSvpModel> loaded = RuntimeState::instance().find(model_id);
    if (loaded == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
    call.names(*loaded);
    if (model_desc == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    *model_desc = {};
    for (const std::size_t tensor : loaded->model.inputs()) {
      model_desc->inputs.push_back(
          {loaded->model.tensor(tensor).name, loaded->model.tensor(tensor).shape, 0});
    }
    model_desc->inputs.push_back({SVP_ACL_DYNAMIC_TENSOR_NAME, {}, kExtraInputBytes});
    model_desc->inputs.push_back({kWorkBufferName, {}, kExtraInputBytes});
    for (const std::size_t tensor : loaded->model.outputs()) {
      model_desc->outputs.push_back(
          {loaded->model.tensor(tensor).name, loaded->model.tensor(tensor).shape, 0});
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
  return port_bytes(model_desc, find_input(model_desc, index));
}

size_t svp_acl_mdl_get_output_size_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  return port_bytes(model_desc, find_output(model_desc, index));
}

size_t svp_acl_mdl_get_input_default_stride(const svp_acl_mdl_desc* model_desc, size_t index) {
  return port_stride(find_input(model_desc, index));
}

size_t svp_acl_mdl_get_output_default_stride(const svp_acl_mdl_desc* model_desc, size_t index) {
  return port_stride(find_output(model_desc, index));
}

svp_acl_error svp_acl_mdl_get_input_dims(const svp_acl_mdl_desc* model_desc, size_t index,
                                         svp_acl_mdl_io_dims* dims) {
  return fill_dims(model_desc, find_input(model_desc, index), dims);
}

svp_acl_error svp_acl_mdl_get_output_dims(const svp_acl_mdl_desc* model_desc, size_t index,
                                          svp_acl_mdl_io_dims* dims) {
  return fill_dims(model_desc, find_output(model_desc, index), dims);
}

const char* svp_acl_mdl_get_input_name_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  const Port* port = find_input(model_desc, index);
  return port == nullptr ? nullptr : port->name.c_str();
}

const char* svp_acl_mdl_get_output_name_by_index(const svp_acl_mdl_desc* model_desc, size_t index) {
  const Port* port = find_output(model_desc, index);
  return port == nullptr ? nullptr : port->name.c_str();
}

svp_acl_format svp_acl_mdl_get_input_format(const svp_acl_mdl_desc* model_desc, size_t index) {
  return port_format(find_input(model_desc, index));
}

svp_acl_format svp_acl_mdl_get_output_format(const svp_acl_mdl_desc* model_desc, size_t index) {
  return port_format(find_output(model_desc, index));
}

svp_acl_data_type svp_acl_mdl_get_input_data_type(const svp_acl_mdl_desc* model_desc,
                                                  size_t index) {
  return port_data_type(find_input(model_desc, index));
}

svp_acl_data_type svp_acl_mdl_get_output_data_type(const svp_acl_mdl_desc* model_desc,
                                                   size_t index) {
  return port_data_type(find_output(model_desc, index));
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

svp_acl_buffer_reuse_type svp_acl_mdl_get_reuse_buffer_type(const svp_acl_mdl_desc* model_desc) {
  return model_desc == nullptr ? SVP_ACL_BUFFER_REUSE_UNDEFINED : SVP_ACL_BUFFER_REUSE_NONE;
}

svp_acl_inout_reuse_type svp_acl_mdl_get_input_reuse_type(const svp_acl_mdl_desc*, size_t) {
  return SVP_ACL_INOUT_REUSE_NONE;
}

svp_acl_inout_reuse_type svp_acl_mdl_get_output_reuse_type(const svp_acl_mdl_desc*, size_t) {
  return SVP_ACL_INOUT_REUSE_NONE;
}

svp_acl_error svp_acl_mdl_get_input_class_id_by_index(const svp_acl_mdl_desc* model_desc,
                                                      size_t index, size_t* class_id) {
  return no_class(find_input(model_desc, index), class_id);
}

svp_acl_error svp_acl_mdl_get_output_class_id_by_index(const svp_acl_mdl_desc* model_desc,
                                                       size_t index, size_t* class_id) {
  return no_class(find_output(model_desc, index), class_id);
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

svp_acl_error svp_acl_ext_get_mdl_aicpu_task_num(uint32_t model_id, uint32_t* num) {
  return guarded(__func__, [&] { return fixed_property(model_id, 0, num); });
}

svp_acl_error svp_acl_ext_get_mdl_net_type(uint32_t model_id, uint32_t* net_type) {
  return guarded(__func__,
                 [&] { return fixed_property(model_id, SVP_ACL_NET_TYPE_CNN, net_type); });
}

}  // extern "C"
