// Models: datasets and executions.
#include <cstring>
#include <new>

#include "acl/acl_mdl.h"
#include "runtime/acl/api/buffers.hpp"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/api/models.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

struct aclmdlExecConfigHandle {
  std::int32_t sync_timeout_ms = -1;
};

namespace {

using msprof::runtime::Model;

// Throws an error about the inputs or the outputs of an execution; `code` is the result of the
// call.
[[noreturn]] void mismatch(const char* side, int code, const std::string& what) {
  throw Failure(code, std::string(side) + what);
}

void* find_memory(const aclmdlDataset& dataset, std::size_t index, std::size_t bytes,
                  const char* side, int code) {
  const aclDataBuffer* buffer = dataset.entries[index].buffer;
  const std::string place = " " + std::to_string(index);
  if (buffer == nullptr || buffer->data == nullptr) {
    mismatch(side, ACL_ERROR_INVALID_PARAM, place + " has no memory");
  }
  if (buffer->size < bytes) {
    mismatch(side, code,
             place + " needs " + std::to_string(bytes) + " bytes, the buffer has " +
                 std::to_string(buffer->size));
  }
  return buffer->data;
}

// Returns the memory of every input or output tensor. A dataset may have one more buffer, for the
// batch.
std::vector<void*> find_memory(const Model& model, const std::vector<std::size_t>& tensors,
                               const aclmdlDataset& dataset, std::int64_t batch, bool one_more,
                               const char* side, int code) {
  const std::size_t have = dataset.entries.size();
  if (have != tensors.size() && !(one_more && have == tensors.size() + 1)) {
    mismatch(side, code,
             "s: the model has " + std::to_string(tensors.size()) + ", the data set has " +
                 std::to_string(have));
  }
  std::vector<void*> memory;
  memory.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(model.tensor(tensors[i]).shape.bytes() * batch);
    memory.push_back(find_memory(dataset, i, bytes, side, code));
  }
  return memory;
}

ExecutionMemory check(const LoadedModel& loaded, const aclmdlDataset* input,
                      const aclmdlDataset* output) {
  require(input, output);
  const Model& model = loaded.model();
  ExecutionMemory memory;
  memory.batch = input->batch == 0 ? model.batch() : input->batch;
  if (memory.batch > model.max_batch()) {
    throw Failure(static_cast<int>(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID),
                  "the data set has batch " + std::to_string(memory.batch) +
                      ", the model's largest is " + std::to_string(model.max_batch()));
  }
  const auto from =
      find_memory(model, model.inputs(), *input, memory.batch, loaded.has_dynamic_batch(), "input",
                  ACL_ERROR_MODEL_INPUT_NOT_MATCH);
  memory.inputs.assign(from.begin(), from.end());
  memory.outputs = find_memory(model, model.outputs(), *output, memory.batch, false, "output",
                               ACL_ERROR_MODEL_OUTPUT_NOT_MATCH);
  return memory;
}

aclError execute(std::uint32_t model_id, const aclmdlDataset* input, const aclmdlDataset* output,
                 const aclmdlExecConfigHandle& config) {
  Runtime& runtime = Runtime::instance();
  const std::shared_ptr<LoadedModel> model = runtime.find_model(model_id);
  runtime.current_context();
  ExecutionMemory memory = check(*model, input, output);
  return model->execute(std::move(memory), runtime.next_request(),
                        deadline_in(config.sync_timeout_ms));
}

aclError execute_async(std::uint32_t model_id, const aclmdlDataset* input,
                       const aclmdlDataset* output, aclrtStream handle) {
  Runtime& runtime = Runtime::instance();
  const std::shared_ptr<LoadedModel> model = runtime.find_model(model_id);
  const std::shared_ptr<Stream> stream = runtime.stream(handle);
  ExecutionMemory memory = check(*model, input, output);
  return model->execute_async(*stream, std::move(memory), runtime.next_request());
}

}  // namespace

extern "C" {

aclmdlDataset* aclmdlCreateDataset() {
  return new (std::nothrow) aclmdlDataset;
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  if (dataset == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete dataset;
  return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return guarded(__func__, [&] {
    require(dataset, dataBuffer);
    dataset->entries.push_back({dataBuffer, nullptr});
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  return dataset == nullptr ? 0 : dataset->entries.size();
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return dataset != nullptr && index < dataset->entries.size() ? dataset->entries[index].buffer
                                                               : nullptr;
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  if (dataset == nullptr || index >= dataset->entries.size()) return ACL_ERROR_INVALID_PARAM;
  dataset->entries[index].desc = tensorDesc;
  return ACL_SUCCESS;
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  return dataset != nullptr && index < dataset->entries.size() ? dataset->entries[index].desc
                                                               : nullptr;
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   uint64_t batchSize) {
  return recorded(__func__, Call::aclmdlSetDynamicBatchSize, [&] {
    require(dataset);
    const std::shared_ptr<LoadedModel> loaded = Runtime::instance().find_model(modelId);
    if (!loaded->has_dynamic_batch()) throw Failure(ACL_ERROR_MODEL_NOT_DYNAMIC);
    const auto largest = static_cast<std::uint64_t>(loaded->model().max_batch());
    if (batchSize == 0 || batchSize > largest) {
      throw Failure(ACL_ERROR_INVALID_PARAM, "the batch must be 1 to " + std::to_string(largest));
    }
    if (index != loaded->model().inputs().size() || index >= dataset->entries.size()) {
      throw Failure(ACL_ERROR_INVALID_PARAM,
                    "the batch has no buffer of this index; "
                    "ask aclmdlGetInputIndexByName");
    }
    std::memcpy(find_memory(*dataset, index, kBatchInputBytes, "input", ACL_ERROR_INVALID_PARAM),
                &batchSize, kBatchInputBytes);
    dataset->batch = static_cast<std::int64_t>(batchSize);
    loaded->current_batch = dataset->batch;
  });
}

aclmdlExecConfigHandle* aclmdlCreateExecConfigHandle() {
  return new (std::nothrow) aclmdlExecConfigHandle;
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle* handle, aclmdlExecConfigAttr attr,
                                const void* attrValue, size_t valueSize) {
  return guarded(__func__, [&] {
    require(handle, attrValue);
    switch (attr) {
      case ACL_MDL_STREAM_SYNC_TIMEOUT:
      case ACL_MDL_EVENT_SYNC_TIMEOUT: {
        const auto timeout = option<std::int32_t>(attrValue, valueSize);
        if (timeout < -1 || timeout == 0) throw Failure(ACL_ERROR_INVALID_PARAM);
        if (attr == ACL_MDL_STREAM_SYNC_TIMEOUT) handle->sync_timeout_ms = timeout;
        return;
      }
      case ACL_MDL_WORK_ADDR_PTR:
      case ACL_MDL_WORK_SIZET:
      case ACL_MDL_MPAIMID_SIZET:
      case ACL_MDL_AICQOS_SIZET:
      case ACL_MDL_AICOST_SIZET:
      case ACL_MDL_MEC_TIMETHR_SIZET:
        static_assert(sizeof(std::size_t) == sizeof(void*));
        static_cast<void>(option<std::size_t>(attrValue, valueSize));
        return;
    }
    throw Failure(ACL_ERROR_INVALID_PARAM);
  });
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete handle;
  return ACL_SUCCESS;
}

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return recorded(__func__, Call::aclmdlExecute,
                  [&] { return execute(modelId, input, output, {}); });
}

aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                         aclrtStream, const aclmdlExecConfigHandle* handle) {
  return recorded(__func__, Call::aclmdlExecuteV2, [&] {
    return execute(modelId, input, output, handle == nullptr ? aclmdlExecConfigHandle{} : *handle);
  });
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                            aclrtStream stream) {
  return recorded(__func__, Call::aclmdlExecuteAsync,
                  [&] { return execute_async(modelId, input, output, stream); });
}

aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                              aclrtStream stream, const aclmdlExecConfigHandle*) {
  return recorded(__func__, Call::aclmdlExecuteAsyncV2,
                  [&] { return execute_async(modelId, input, output, stream); });
}

}  // extern "C"
