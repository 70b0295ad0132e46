// A model on a device: its operators as shown in records, and its executions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/acl/device/latch.hpp"
#include "runtime/acl/device/stream.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/engine/model/model.hpp"

namespace msprof::acl {

// Memory of one execution: each input and output holds `batch` images in a row. The caller checks
// the sizes.
struct ExecutionMemory {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::int64_t batch = 1;
};

class LoadedModel : public std::enable_shared_from_this<LoadedModel> {
 public:
  LoadedModel(std::uint32_t id, runtime::Model model, std::shared_ptr<Device> device);

  std::uint32_t id() const { return id_; }
  std::uint16_t device_id() const { return own_stream_->device_id(); }
  // Runs the executions that the caller waits for.
  const std::shared_ptr<Stream>& own_stream() const { return own_stream_; }
  const runtime::Model& model() const { return model_; }
  // True if executions may use other batch sizes.
  bool has_dynamic_batch() const { return model_.max_batch() > model_.batch(); }
  // Bytes for one execution with the largest batch, and for the weights.
  std::size_t workspace_bytes() const;
  std::size_t weight_bytes() const;

  // Launches an execution; `request` numbers the executions of the process from 1. Returns
  // ACL_ERROR_INVALID_MODEL_ID if the model is closed.
  int execute_async(Stream& stream, ExecutionMemory memory, std::uint32_t request);
  // Launches an execution on the model's own stream and waits for it. Returns the result of the
  // execution.
  int execute(ExecutionMemory memory, std::uint32_t request, const WaitDeadline& deadline);

  // Waits for all active executions and prevents new ones.
  void close();

  std::atomic<std::int64_t> current_batch;  // last value set by the application

 private:
  class Execution;
  friend class Execution;

  int launch(Stream& stream, ExecutionMemory memory, std::uint32_t request,
             const std::shared_ptr<Latch>& done, const WaitDeadline& deadline);
  bool enter();
  void leave();
  std::unique_ptr<runtime::Workspace> take_workspace();
  void give_back(std::unique_ptr<runtime::Workspace> workspace);

  const std::uint32_t id_;
  const runtime::Model model_;
  std::vector<OpInfo> operators_;  // one per layer
  const std::shared_ptr<Stream> own_stream_;

  std::mutex mutex_;
  std::condition_variable left_;
  std::uint32_t under_way_ = 0;
  bool is_closed_ = false;
  std::vector<std::unique_ptr<runtime::Workspace>> workspaces_;
};

}  // namespace msprof::acl
