// One operator of a model, ready to run: parameters and weights are loaded and the output shape is
// known. To add an operator, write a maker and add it to the table in operators.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine/model/layer_reader.hpp"

namespace msprof::runtime {

// Channels per block in the layout NC1HWC0.
inline constexpr int64_t kBlockChannels = 16;

// Shape of one image of a tensor: channels, rows, columns. A vector is channels × 1 × 1.
struct TensorShape {
  int64_t channels = 1;
  int64_t height = 1;
  int64_t width = 1;
  // True for NC1HWC0: blocks of kBlockChannels channels, each rows × columns × channels, the last
  // one padded with zeros. False for NCHW.
  bool is_blocked = false;

  int64_t plane() const { return height * width; }
  int64_t blocks() const { return (channels + kBlockChannels - 1) / kBlockChannels; }
  int64_t stored_channels() const { return is_blocked ? blocks() * kBlockChannels : channels; }
  int64_t elements() const { return stored_channels() * plane(); }
  int64_t bytes() const { return elements() * 4; }
  bool operator==(const TensorShape&) const = default;
};

// Work for one image, independent of any machine. Weights are read once per execution.
struct LayerWork {
  int64_t macs = 0;               // multiply-accumulates needed for the result
  int64_t padded_macs = 0;        // the same with padded tiles of the matrix unit
  int64_t vector_ops = 0;         // elementwise steps needed for the result
  int64_t padded_vector_ops = 0;  // the same with every row padded to whole vectors
  int64_t relayout_bytes = 0;     // bytes copied to arrange windows for the matrix product
  int64_t input_bytes = 0;
  int64_t weight_bytes = 0;
  int64_t output_bytes = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;

  // Runs one image. `inputs` has one entry per input of the layer, with the shapes given to the
  // maker.
  virtual void run(const float* const* inputs, float* scratch, float* output) const = 0;
  virtual int64_t scratch_floats() const { return 0; }

  TensorShape output_shape;
  LayerWork work;
};

// Checks the weights of a whole model against a limit before they are allocated.
class WeightBudget {
 public:
  explicit WeightBudget(int64_t floats) : left_(floats) {}
  void take(int64_t floats, const LayerReader& reader);

 private:
  int64_t left_;
};

// Input of a maker; `original` contains at least the layer's own name.
struct OperatorContext {
  LayerReader& reader;
  std::span<const TensorShape> inputs;
  std::span<const std::string> original;
  uint64_t seed;
  WeightBudget& budget;
};

// Throws ModelError for an unknown type, a wrong number of inputs or invalid parameters.
std::unique_ptr<Operator> make_operator(const std::string& type, const OperatorContext& context);

}  // namespace msprof::runtime
