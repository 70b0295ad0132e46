#include "runtime/model/model.hpp"

#include "runtime/clock.hpp"

namespace msprof::runtime {

void Model::prepare(Workspace& workspace, int64_t batch) const {
  workspace.slots.resize(slot_floats_.size());
  for (std::size_t slot = 0; slot < slot_floats_.size(); ++slot) {
    const auto floats = static_cast<std::size_t>(slot_floats_[slot] * batch);
    if (workspace.slots[slot].size() < floats) workspace.slots[slot].resize(floats);
  }
  if (workspace.scratch.size() < static_cast<std::size_t>(scratch_floats_)) {
    workspace.scratch.resize(static_cast<std::size_t>(scratch_floats_));
  }
}

void Model::run(Workspace& workspace, int64_t batch, LayerObserver* observer) const {
  std::vector<const float*> inputs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const uint64_t start_ns = observer == nullptr ? 0 : monotonic_ns();
    for (int64_t image = 0; image < batch; ++image) {
      inputs.clear();
      for (const std::size_t input : layer.inputs) {
        inputs.push_back(values(workspace, input) + image * tensors_[input].shape.elements());
      }
      float* output =
          values(workspace, layer.output) + image * tensors_[layer.output].shape.elements();
      layer.operation->run(inputs.data(), workspace.scratch.data(), output);
    }
    if (observer != nullptr) observer->layer_done(i, start_ns, monotonic_ns());
  }
}

}  // namespace msprof::runtime
