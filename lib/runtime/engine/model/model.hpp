// A model read from its file and ready to run. Immutable, so any number of threads may run it at
// once. The file format is described in MODEL_FORMAT.md.
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
  std::size_t slot = 0;  // index of its buffer in a Workspace
};

struct Layer {
  std::string name;
  std::string type;
  std::vector<std::string> original;  // layer names before fusion, at least one
  bool is_on_cpu = false;           // a CPU operator (AA_CPU) instead of a core operator (AA_CORE)
  std::vector<std::size_t> inputs;  // indices of tensors
  std::size_t output = 0;
  std::unique_ptr<Operator> operation;
};

// Called after every layer; times are nanoseconds of CLOCK_MONOTONIC.
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  // Called before every layer. If it returns false, no clock is read and layer_done() is not
  // called.
  virtual bool wants_layer(std::size_t) { return true; }
  virtual void layer_done(std::size_t layer, uint64_t start_ns, uint64_t end_ns) = 0;
};

// Memory of one execution. May be reused by later executions, never by two at the same time.
struct Workspace {
  std::vector<std::vector<float>> slots;
  std::vector<float> scratch;
};

class Model {
 public:
  // Throws ModelError, or std::bad_alloc if the machine has less memory than the limits allow.
  static Model parse(std::span<const char> bytes);

  const std::string& name() const { return name_; }
  int64_t batch() const { return batch_; }
  int64_t max_batch() const { return max_batch_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const std::vector<std::size_t>& inputs() const { return inputs_; }
  const std::vector<std::size_t>& outputs() const { return outputs_; }
  const Tensor& tensor(std::size_t index) const { return tensors_[index]; }

  // Grows the workspace to this batch. Afterwards, write inputs and read outputs through values().
  void prepare(Workspace& workspace, int64_t batch) const;
  float* values(Workspace& workspace, std::size_t tensor) const {
    return workspace.slots[tensors_[tensor].slot].data();
  }
  // Runs the layers. Without an observer no clock is read.
  void run(Workspace& workspace, int64_t batch, LayerObserver* observer) const;

  // Bytes of a workspace for this batch, and bytes of all weights.
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
  std::vector<int64_t> slot_floats_;  // per image
  int64_t scratch_floats_ = 0;
};

}  // namespace msprof::runtime
