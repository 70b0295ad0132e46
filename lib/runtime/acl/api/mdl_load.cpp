// Models: reading, loading, unloading.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include "acl/acl_mdl.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/api/models.hpp"
#include "runtime/acl/device/runtime.hpp"

struct aclmdlConfigHandle {
  std::size_t load_type = 0;
  std::string path;
  const void* memory = nullptr;
  std::size_t memory_size = 0;
};

namespace msprof::acl {
namespace {

// First bytes of a file written by the offline model compiler.
constexpr std::string_view kCompiledModel = "IMOD";
// Reads stop here. Larger than any model file of this runtime.
constexpr std::size_t kMaxModelFileBytes = (std::size_t{32} << 20) + 1;

class File {
 public:
  explicit File(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Returns false with errno on error.
  bool read_into(std::vector<char>& bytes) const {
    struct stat status;
    if (fd_ < 0 || fstat(fd_, &status) != 0) return false;
    if (!S_ISREG(status.st_mode)) {
      errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
      return false;
    }
    bytes.resize(std::min(static_cast<std::size_t>(status.st_size), kMaxModelFileBytes));
    std::size_t have = 0;
    while (have < bytes.size()) {
      const ssize_t count = read(fd_, bytes.data() + have, bytes.size() - have);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      if (count == 0) break;
      have += static_cast<std::size_t>(count);
    }
    bytes.resize(have);
    return true;
  }

 private:
  const int fd_;
};

std::uint64_t tensor_bytes(const runtime::Model& model, std::size_t tensor) {
  return static_cast<std::uint64_t>(model.tensor(tensor).shape.bytes());
}

// Returns the fused layers. Valid as long as the model.
std::vector<FusedOp> fused_ops(const runtime::Model& model) {
  std::vector<FusedOp> fused;
  for (const runtime::Layer& layer : model.layers()) {
    if (layer.original.size() < 2) continue;
    FusedOp op;
    op.name = layer.name;
    op.originals = layer.original;
    for (const std::size_t input : layer.inputs) op.input_bytes += tensor_bytes(model, input);
    op.output_bytes = tensor_bytes(model, layer.output);
    op.weight_bytes = static_cast<std::uint64_t>(layer.operation->work.weight_bytes);
    op.workspace_bytes = static_cast<std::uint64_t>(layer.operation->scratch_floats()) * 4;
    fused.push_back(op);
  }
  return fused;
}

// Loads the model returned by `read` and records the duration of both steps.
template <typename Read>
void load(std::uint32_t* model_id, Read read) {
  require(model_id);
  const std::uint64_t begin = runtime::monotonic_ns();
  Runtime::instance().current_context();  // throws before a large file is read
  const std::shared_ptr<LoadedModel> loaded = Runtime::instance().load(read());
  // Called even if nothing is recorded yet: a recording that starts later needs the model's name.
  const runtime::Model& model = loaded->model();
  record_model_load(loaded->id(), model.name(), fused_ops(model), begin, runtime::monotonic_ns());
  *model_id = loaded->id();
}

std::size_t workspace_bytes(const runtime::Model& model) {
  return model.workspace_bytes(model.max_batch());
}

// Checks that memory provided by the application is large enough. A host does not use this memory.
runtime::Model with_memory(runtime::Model model, const void* work, std::size_t work_size,
                           const void* weights, std::size_t weight_size) {
  if ((work != nullptr && work_size < workspace_bytes(model)) ||
      (weights != nullptr && weight_size < model.weight_bytes())) {
    throw Failure(ACL_ERROR_INVALID_PARAM,
                  "the model needs " + std::to_string(workspace_bytes(model)) +
                      " bytes of work memory and " + std::to_string(model.weight_bytes()) +
                      " bytes for weights");
  }
  return model;
}

void query_size(const runtime::Model& model, std::size_t* work_size, std::size_t* weight_size) {
  require(work_size, weight_size);
  *work_size = workspace_bytes(model);
  *weight_size = model.weight_bytes();
}

}  // namespace

runtime::Model parse_model(const void* bytes, std::size_t size) {
  require(bytes);
  if (size == 0) throw Failure(ACL_ERROR_INVALID_PARAM);
  const std::string_view text(static_cast<const char*>(bytes), size);
  if (text.substr(0, kCompiledModel.size()) == kCompiledModel) {
    throw runtime::ModelError(
        "a compiled model (.om) runs only on a card; a host runs model files of msprof");
  }
  return runtime::Model::parse({text.data(), text.size()});
}

runtime::Model read_model(const char* path) {
  require(path);
  std::vector<char> bytes;
  if (!File(path).read_into(bytes)) {
    throw Failure(static_cast<int>(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID),
                  std::string(path) + " cannot be read (" + strerror(errno) + ")");
  }
  try {
    if (bytes.empty()) throw runtime::ModelError("the file is empty");
    return parse_model(bytes.data(), bytes.size());
  } catch (const runtime::ModelError& error) {
    throw runtime::ModelError(std::string(path) + ": " + error.what());
  }
}

}  // namespace msprof::acl

using namespace msprof::acl;

extern "C" {

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return recorded(__func__, Call::aclmdlQuerySize,
                  [&] { query_size(read_model(fileName), workSize, weightSize); });
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize,
                                size_t* weightSize) {
  return recorded(__func__, Call::aclmdlQuerySizeFromMem,
                  [&] { query_size(parse_model(model, modelSize), workSize, weightSize); });
}

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return recorded(__func__, Call::aclmdlLoadFromFile,
                  [&] { load(modelId, [&] { return read_model(modelPath); }); });
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr,
                                   size_t workSize, void* weightPtr, size_t weightSize) {
  return recorded(__func__, Call::aclmdlLoadFromFileWithMem, [&] {
    load(modelId, [&] {
      return with_memory(read_model(modelPath), workPtr, workSize, weightPtr, weightSize);
    });
  });
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return recorded(__func__, Call::aclmdlLoadFromMem,
                  [&] { load(modelId, [&] { return parse_model(model, modelSize); }); });
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId,
                                  void* workPtr, size_t workSize, void* weightPtr,
                                  size_t weightSize) {
  return recorded(__func__, Call::aclmdlLoadFromMemWithMem, [&] {
    load(modelId, [&] {
      return with_memory(parse_model(model, modelSize), workPtr, workSize, weightPtr, weightSize);
    });
  });
}

aclmdlConfigHandle* aclmdlCreateConfigHandle() {
  return new (std::nothrow) aclmdlConfigHandle;
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr,
                            const void* attrValue, size_t valueSize) {
  return guarded(__func__, [&]() -> aclError {
    require(handle, attrValue);
    switch (attr) {
      case ACL_MDL_LOAD_TYPE_SIZET:
        handle->load_type = option<std::size_t>(attrValue, valueSize);
        return ACL_SUCCESS;
      case ACL_MDL_PATH_PTR: {
        const auto* text = option<const char*>(attrValue, valueSize);
        require(text);
        handle->path = text;
        return ACL_SUCCESS;
      }
      case ACL_MDL_MEM_ADDR_PTR:
        handle->memory = option<const void*>(attrValue, valueSize);
        return ACL_SUCCESS;
      case ACL_MDL_MEM_SIZET:
        handle->memory_size = option<std::size_t>(attrValue, valueSize);
        return ACL_SUCCESS;
      case ACL_MDL_INPUTQ_NUM_SIZET:
      case ACL_MDL_INPUTQ_ADDR_PTR:
      case ACL_MDL_OUTPUTQ_NUM_SIZET:
      case ACL_MDL_OUTPUTQ_ADDR_PTR:
        return ACL_ERROR_FEATURE_UNSUPPORTED;
      // Ignored: a host has no priorities and needs no application memory.
      case ACL_MDL_PRIORITY_INT32:
      case ACL_MDL_WEIGHT_ADDR_PTR:
      case ACL_MDL_WEIGHT_SIZET:
      case ACL_MDL_WORKSPACE_ADDR_PTR:
      case ACL_MDL_WORKSPACE_SIZET:
      case ACL_MDL_WORKSPACE_MEM_OPTIMIZE:
      case ACL_MDL_WEIGHT_PATH_PTR:
        return ACL_SUCCESS;
    }
    return ACL_ERROR_INVALID_PARAM;
  });
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle, uint32_t* modelId) {
  return recorded(__func__, Call::aclmdlLoadWithConfig, [&]() -> aclError {
    require(handle, modelId);
    switch (handle->load_type) {
      case ACL_MDL_LOAD_FROM_FILE:
      case ACL_MDL_LOAD_FROM_FILE_WITH_MEM:
        if (handle->path.empty()) return ACL_ERROR_INVALID_PARAM;
        load(modelId, [&] { return read_model(handle->path.c_str()); });
        return ACL_SUCCESS;
      case ACL_MDL_LOAD_FROM_MEM:
      case ACL_MDL_LOAD_FROM_MEM_WITH_MEM:
        load(modelId, [&] { return parse_model(handle->memory, handle->memory_size); });
        return ACL_SUCCESS;
      case ACL_MDL_LOAD_FROM_FILE_WITH_Q:
      case ACL_MDL_LOAD_FROM_MEM_WITH_Q:
        return ACL_ERROR_FEATURE_UNSUPPORTED;
      default:
        return ACL_ERROR_INVALID_PARAM;
    }
  });
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete handle;
  return ACL_SUCCESS;
}

aclError aclmdlUnload(uint32_t modelId) {
  return recorded(__func__, Call::aclmdlUnload, [&] { Runtime::instance().unload(modelId); });
}

}  // extern "C"
