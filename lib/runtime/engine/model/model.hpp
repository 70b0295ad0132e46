// A model read from its file and ready to run; immutable, so that any number of threads may run it
// at once. The file format is described in MODEL_FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine/model/operator.hpp"

namespace msprof::runtime {

struct Tensor {
  std::string name;
  TensorShape shape;
  std::size_t slot = 0;  // slot of its values in a Workspace
};

struct Layer {
  std::string name;
  std::string type;
  std::vector<std::string> original;  // names before fusion, at least one
  bool on_cpu = false;              // a CPU operator (AA_CPU) instead of one of the core (AA_CORE)
  std::vector<std::size_t> inputs;  // tensors
  std::size_t output = 0;
  std::unique_ptr<Operator> operation;
};

// Called after every layer; times are nanoseconds of CLOCK_MONOTONIC.
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  // Asked before every layer; where the answer is no, no clock is read and layer_done not called.
  virtual bool wants_layer(std::size_t) { return true; }
  virtual void layer_done(std::size_t layer, uint64_t start_ns, uint64_t end_ns) = 0;
};

// Memory of one execution; reused from one execution to the next, never by two at once.
struct Workspace {
  std::vector<std::vector<float>> slots;
  std::vector<float> scratch;
};

class Model {
 public:
  // Throws ModelError with a sentence; std::bad_alloc where the machine is smaller than the limits.
  static Model parse(std::span<const char> bytes);

  const std::string& name() const { return name_; }
  int64_t batch() const { return batch_; }
  int64_t max_batch() const { return max_batch_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const std::vector<std::size_t>& inputs() const { return inputs_; }
  const std::vector<std::size_t>& outputs() const { return outputs_; }
  const Tensor& tensor(std::size_t index) const { return tensors_[index]; }

  // Grows the workspace to this batch; then the inputs may be written and the outputs read through
  // values().
  void prepare(Workspace& workspace, int64_t batch) const;
  float* values(Workspace& workspace, std::size_t tensor) const {
    return workspace.slots[tensors_[tensor].slot].data();
  }
  // Runs the layers. With no observer no clock is read.
  void run(Workspace& workspace, int64_t batch, LayerObserver* observer) const;

  // Bytes that a workspace of this batch grows to, and bytes of all weights.
  std::size_t workspace_bytes(int64_t batch) const;
  std::size_t weight_bytes() const;

 private:
  friend class ModelParser;

  std::string name_;
  int64_t batch_ = 1;
  int64_t max_batch_ = 1;
  std::vector<Tensor> tensors_;
  std::vector<Layer> layers_;
  std::vector<std::size_t> inputs_, outputs_;
  std::vector<int64_t> slot_floats_;  // a image
  int64_t scratch_floats_ = 0;
};

}  // namespace msprof::runtime
