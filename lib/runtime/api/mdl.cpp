// Models: load, datasets, execute, unload.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "runtime/api/data_buffer.hpp"
#include "runtime/api/runtime_state.hpp"
#include "runtime/include/svp_acl_mdl.h"

namespace {

using msprof::runtime::ApiId;
using msprof::runtime::ExecutionRecorder;
using msprof::runtime::guarded;
using msprof::runtime::LoadedModel;
using msprof::runtime::Model;
using msprof::runtime::RecordedCall;
using msprof::runtime::RuntimeState;
using msprof::runtime::say;
using msprof::runtime::TensorShape;
using msprof::runtime::Workspace;

// A workspace that finds its way back to the model.
class BorrowedWorkspace {
 public:
  explicit BorrowedWorkspace(LoadedModel& model)
      : model_(model), workspace_(model.take_workspace()) {}
  ~BorrowedWorkspace() { model_.give_back(std::move(workspace_)); }
  BorrowedWorkspace(const BorrowedWorkspace&) = delete;
  BorrowedWorkspace& operator=(const BorrowedWorkspace&) = delete;

  Workspace& operator*() const { return *workspace_; }

 private:
  LoadedModel& model_;
  std::unique_ptr<Workspace> workspace_;
};

// The rows of a whole batch inside an application's buffer.
struct Rows {
  std::size_t count, bytes, stride;
};

// Nothing, and a sentence on stderr, when the buffer cannot hold them.
std::optional<Rows> rows_of(const svp_acl_data_buffer* buffer, const TensorShape& shape,
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

// Checks one side of an execution; the rows of every tensor, or nothing.
std::optional<std::vector<Rows>> check_side(const Model& model,
                                            const std::vector<std::size_t>& tensors,
                                            const svp_acl_mdl_dataset& dataset, int64_t batch,
                                            const char* side) {
  if (dataset.buffers.size() != tensors.size()) {
    say(std::string("svp_acl_mdl_execute: the model has ") + std::to_string(tensors.size()) + " " +
        side + (tensors.size() == 1 ? ", the dataset " : "s, the dataset ") +
        std::to_string(dataset.buffers.size()));
    return std::nullopt;
  }
  std::vector<Rows> all;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::optional<Rows> rows =
        rows_of(dataset.buffers[i], model.tensor(tensors[i]).shape, batch, side, i);
    if (!rows) return std::nullopt;
    all.push_back(*rows);
  }
  return all;
}

void run_model(LoadedModel& loaded, Workspace& workspace, int64_t batch) {
  const uint64_t execution = loaded.executions++;
  if (loaded.profile != nullptr && !RuntimeState::instance().forked()) {
    ExecutionRecorder recorder(*loaded.profile, loaded.model, execution,
                               static_cast<uint64_t>(batch));
    loaded.model.run(workspace, batch, recorder.captured() ? &recorder : nullptr);
    return;
  }
  if (loaded.profile != nullptr) {
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    if (!said.test_and_set())
      say("this process was forked after svp_acl_init: only its parent is profiled");
  }
  loaded.model.run(workspace, batch, nullptr);
}

svp_acl_error execute(LoadedModel& loaded, const svp_acl_mdl_dataset& input,
                      const svp_acl_mdl_dataset& output) {
  const Model& model = loaded.model;
  const int64_t batch = input.batch == 0 ? model.batch() : static_cast<int64_t>(input.batch);
  const auto from = check_side(model, model.inputs(), input, batch, "input");
  if (!from) return SVP_ACL_ERROR_INVALID_PARAM;
  const auto to = check_side(model, model.outputs(), output, batch, "output");
  if (!to) return SVP_ACL_ERROR_INVALID_PARAM;

  const BorrowedWorkspace workspace(loaded);
  model.prepare(*workspace, batch);
  for (std::size_t i = 0; i < from->size(); ++i) {
    const Rows& rows = (*from)[i];
    copy_rows(rows, input.buffers[i]->data, rows.stride,
              model.values(*workspace, model.inputs()[i]), rows.bytes);
  }
  run_model(loaded, *workspace, batch);
  for (std::size_t i = 0; i < to->size(); ++i) {
    const Rows& rows = (*to)[i];
    copy_rows(rows, model.values(*workspace, model.outputs()[i]), rows.bytes,
              output.buffers[i]->data, rows.stride);
  }
  return SVP_ACL_SUCCESS;
}

}  // namespace

extern "C" {

svp_acl_error svp_acl_mdl_load_from_mem(const void* model, size_t model_size, uint32_t* model_id) {
  return guarded(__func__, [&]() -> svp_acl_error {
    if (!RuntimeState::instance().initialised()) return SVP_ACL_ERROR_UNINITIALIZE;
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
    // Found and held before the call is recorded: unload then waits until the record is written.
    const std::shared_ptr<LoadedModel> loaded = RuntimeState::instance().find(model_id);
    if (loaded == nullptr) {
      const RecordedCall call(ApiId::kExecute);
      return SVP_ACL_ERROR_INVALID_MODEL_ID;
    }
    const std::shared_lock in_use(loaded->in_use);
    RecordedCall call(ApiId::kExecute);
    call.names(*loaded);
    if (input == nullptr || output == nullptr) return SVP_ACL_ERROR_INVALID_PARAM;
    return execute(*loaded, *input, *output);
  });
}

svp_acl_error svp_acl_mdl_set_dynamic_batch_size(uint32_t model_id, svp_acl_mdl_dataset* dataset,
                                                 size_t index, uint64_t batch_size) {
  return guarded(__func__, [&]() -> svp_acl_error {
    const std::shared_ptr<LoadedModel> loaded = RuntimeState::instance().find(model_id);
    if (loaded == nullptr) return SVP_ACL_ERROR_INVALID_MODEL_ID;
    if (dataset == nullptr || index >= loaded->model.inputs().size())
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
    const RecordedCall call(ApiId::kCreateDataset);
    dataset = new svp_acl_mdl_dataset;
    return SVP_ACL_SUCCESS;
  });
  return dataset;
}

svp_acl_error svp_acl_mdl_destroy_dataset(const svp_acl_mdl_dataset* dataset) {
  return guarded(__func__, [&] {
    const RecordedCall call(ApiId::kDestroyDataset);
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
