#include "runtime/acl/device/loaded_model.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/acl/device/device.hpp"
#include "runtime/engine/message.hpp"
#include "wire/cann/device_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::acl {
namespace {

namespace step_tag = cann::step_tag;
using runtime::Layer;
using runtime::Model;
using runtime::monotonic_ns;
using runtime::TensorShape;

constexpr std::uint32_t kAiCore = 0, kAiCpu = 1;  // cann_host.md 1.9, T1
// The images of an execution are computed sequentially by one core.
constexpr std::uint16_t kBlocks = 1;

TensorWire describe_tensor(std::uint32_t kind, const TensorShape& shape) {
  TensorWire tensor = {};
  tensor.kind = kind;
  tensor.format = shape.is_blocked ? ACL_FORMAT_NC1HWC0 : ACL_FORMAT_NCHW;
  tensor.data_type = ACL_FLOAT;
  tensor.shape[0] = 1;
  tensor.shape[1] = static_cast<std::uint32_t>(shape.is_blocked ? shape.blocks() : shape.channels);
  tensor.shape[2] = static_cast<std::uint32_t>(shape.height);
  tensor.shape[3] = static_cast<std::uint32_t>(shape.width);
  if (shape.is_blocked) tensor.shape[4] = static_cast<std::uint32_t>(runtime::kBlockChannels);
  return tensor;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
  return text;
}

OpInfo describe_layer(const Model& model, const Layer& layer) {
  OpInfo op;
  op.name = layer.name;
  op.type = layer.type;
  op.task_type = layer.is_on_cpu ? kAiCpu : kAiCore;
  op.blocks = kBlocks;
  for (const std::size_t input : layer.inputs) {
    op.tensors.push_back(describe_tensor(kInputTensor, model.tensor(input).shape));
  }
  op.tensors.push_back(describe_tensor(kOutputTensor, model.tensor(layer.output).shape));
  if (layer.original != std::vector{layer.name})
    op.attributes = "original:" + joined(layer.original);
  op.work = layer.operation->work;
  describe(op);
  return op;
}

TaskIds task_after(const TaskIds& first, std::uint32_t tasks) {
  return {first.device, first.stream, first.sequence + tasks};
}

// An execution has these tasks, in this order: start of the model, start of its layers, the layers,
// end of the layers, end of the model.
TaskIds layer_task(const TaskIds& first, std::size_t layer) {
  return task_after(first, static_cast<std::uint32_t>(layer) + 2);
}

}  // namespace

// One execution from its launch to its end.
class LoadedModel::Execution final : public Task, private runtime::LayerObserver {
 public:
  Execution(std::shared_ptr<LoadedModel> model, ExecutionMemory memory, std::uint32_t request,
            std::shared_ptr<Latch> done)
      : model_(std::move(model)),
        memory_(std::move(memory)),
        request_(request),
        done_(std::move(done)) {}

  ~Execution() override {
    if (done_) done_->open(0, code_);
    if (has_entered_) model_->leave();
  }

  std::int64_t batch() const { return memory_.batch; }

  // Keeps the model open until the end of the execution. Returns false if it is closed.
  bool enter() { return has_entered_ = model_->enter(); }

  static std::uint32_t count_tasks(const Model& model) {
    return static_cast<std::uint32_t>(model.layers().size()) + 4;
  }

  void launched_as(const TaskIds& first) {
    first_ = first;
    is_launch_recorded_ = records_tasks(first.device);
  }

  int run(Stream&) override {
    try {
      code_ = execute();
    } catch (const std::bad_alloc&) {
      runtime::say("model '" + model_->model_.name() + "': out of memory");
      code_ = ACL_ERROR_BAD_ALLOC;
    }
    return code_;
  }

 private:
  int execute() {
    const Model& model = model_->model_;
    std::unique_ptr<runtime::Workspace> workspace = model_->take_workspace();
    model.prepare(*workspace, memory_.batch);
    const bool marked = records_tasks(first_.device);
    const std::uint64_t begin_ns = marked ? mark(0, step_tag::kModelStart) : 0;
    for (std::size_t i = 0; i < model.inputs().size(); ++i) {
      std::memcpy(model.values(*workspace, model.inputs()[i]), memory_.inputs[i],
                  tensor_bytes(model.inputs()[i]));
    }
    if (marked) mark(1, step_tag::kForward);
    model.run(*workspace, memory_.batch, this);
    if (marked) mark(count_tasks(model) - 2, step_tag::kBackward);
    for (std::size_t i = 0; i < model.outputs().size(); ++i) {
      std::memcpy(memory_.outputs[i], model.values(*workspace, model.outputs()[i]),
                  tensor_bytes(model.outputs()[i]));
    }
    if (marked) tell_key_points(begin_ns, mark(count_tasks(model) - 1, step_tag::kModelEnd));
    model_->give_back(std::move(workspace));
    return ACL_SUCCESS;
  }

  std::size_t tensor_bytes(std::size_t tensor) const {
    return static_cast<std::size_t>(model_->model_.tensor(tensor).shape.bytes() * memory_.batch);
  }

  // Records a mark and returns its time.
  std::uint64_t mark(std::uint32_t task, std::uint16_t tag) const {
    const std::uint64_t now = monotonic_ns();
    record_step(task_after(first_, task), request_, model_->id_, tag, now);
    return now;
  }

  void tell_key_points(std::uint64_t begin_ns, std::uint64_t end_ns) const {
    RanTask execution;
    execution.ids = first_;
    execution.kind = TaskKind::step;
    execution.images = static_cast<std::uint32_t>(memory_.batch);
    execution.model = model_->id_;
    execution.begin_ns = begin_ns;
    execution.end_ns = end_ns;
    record_execution(execution);
  }

  bool wants_layer(std::size_t layer) override {
    if (!records_tasks(first_.device)) return false;
    // If recording started after the launch, record the operator's launch in the thread that runs
    // it.
    if (!is_launch_recorded_) {
      const std::uint64_t now = monotonic_ns();
      record_op_launch({layer_task(first_, layer), now, now}, model_->operators_[layer],
                       static_cast<std::uint32_t>(memory_.batch));
    }
    return true;
  }

  void layer_done(std::size_t layer, std::uint64_t start_ns, std::uint64_t end_ns) override {
    RanTask task;
    task.ids = layer_task(first_, layer);
    task.op = &model_->operators_[layer];
    task.images = static_cast<std::uint32_t>(memory_.batch);
    task.model = model_->id_;
    task.begin_ns = start_ns;
    task.end_ns = end_ns;
    record_task(task);
  }

  const std::shared_ptr<LoadedModel> model_;
  const ExecutionMemory memory_;
  const std::uint32_t request_;
  const std::shared_ptr<Latch> done_;
  TaskIds first_;
  bool has_entered_ = false;
  bool is_launch_recorded_ = false;
  int code_ = ACL_ERROR_RT_INVALID_HANDLE;  // for an execution dropped by a closed stream
};

LoadedModel::LoadedModel(std::uint32_t id, Model model, std::shared_ptr<Device> device)
    : current_batch(model.batch()),
      id_(id),
      model_(std::move(model)),
      own_stream_(std::make_shared<Stream>(std::move(device), nullptr)) {
  operators_.reserve(model_.layers().size());
  for (const Layer& layer : model_.layers()) operators_.push_back(describe_layer(model_, layer));
}

std::size_t LoadedModel::workspace_bytes() const {
  return model_.workspace_bytes(model_.max_batch());
}

std::size_t LoadedModel::weight_bytes() const {
  return model_.weight_bytes();
}

int LoadedModel::execute_async(Stream& stream, ExecutionMemory memory, std::uint32_t request) {
  return launch(stream, std::move(memory), request, nullptr, std::nullopt);
}

int LoadedModel::execute(ExecutionMemory memory, std::uint32_t request,
                         const WaitDeadline& deadline) {
  return launch(*own_stream_, std::move(memory), request, std::make_shared<Latch>(), deadline);
}

int LoadedModel::launch(Stream& stream, ExecutionMemory memory, std::uint32_t request,
                        const std::shared_ptr<Latch>& done, const WaitDeadline& deadline) {
  const bool recorded = is_recording();
  const std::uint64_t begin = recorded ? monotonic_ns() : 0;
  auto execution =
      std::make_unique<Execution>(shared_from_this(), std::move(memory), request, done);
  if (!execution->enter()) return ACL_ERROR_INVALID_MODEL_ID;
  const auto images = static_cast<std::uint32_t>(execution->batch());
  bool pushed = false;
  {
    Stream::Launching launching(stream);
    const TaskIds first = launching.reserve(Execution::count_tasks(model_));
    execution->launched_as(first);
    // Launch times are read before the device can start; the launches are recorded afterwards.
    std::vector<Launch> launches(recorded ? operators_.size() : 0);
    for (std::size_t layer = 0; layer < launches.size(); ++layer) {
      launches[layer].ids = layer_task(first, layer);
      launches[layer].begin_ns = monotonic_ns();
      launches[layer].end_ns = monotonic_ns();
    }
    pushed = launching.push(std::move(execution));
    for (std::size_t layer = 0; layer < launches.size(); ++layer) {
      record_op_launch(launches[layer], operators_[layer], images);
    }
  }
  const bool late = pushed && done && done->wait(deadline) == Latch::End::timeout;
  if (recorded) record_model_execution(id_, request, begin, monotonic_ns(), stream.device_id());
  if (!pushed) return ACL_ERROR_RT_INVALID_HANDLE;
  if (late) return ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
  return done ? done->code() : ACL_SUCCESS;
}

bool LoadedModel::enter() {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return false;
  ++under_way_;
  return true;
}

void LoadedModel::leave() {
  const std::lock_guard lock(mutex_);
  --under_way_;
  left_.notify_all();
}

void LoadedModel::close() {
  {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    left_.wait(lock, [this] { return under_way_ == 0; });
  }
  own_stream_->close(Closing::finish);
}

std::unique_ptr<runtime::Workspace> LoadedModel::take_workspace() {
  {
    const std::lock_guard lock(mutex_);
    if (!workspaces_.empty()) {
      std::unique_ptr<runtime::Workspace> workspace = std::move(workspaces_.back());
      workspaces_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<runtime::Workspace>();
}

void LoadedModel::give_back(std::unique_ptr<runtime::Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  workspaces_.push_back(std::move(workspace));
}

}  // namespace msprof::acl
