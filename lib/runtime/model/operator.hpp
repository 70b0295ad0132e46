// One operator of a model, ready to run: parameters read, weights made, output shape known.
// To add an operator, write a maker and add its line to the table in operators.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/layer_reader.hpp"
#include "runtime/model/tensor_shape.hpp"

namespace msprof::runtime {

// What one image costs, before any machine is assumed; weights are read once an execution.
struct LayerWork {
  int64_t macs = 0;               // multiply-accumulates that the result needs
  int64_t padded_macs = 0;        // the same with the matrix unit's tiles filled up
  int64_t vector_ops = 0;         // elementwise steps that the result needs
  int64_t padded_vector_ops = 0;  // the same with every row filled up to whole vectors
  int64_t relayout_bytes = 0;     // bytes copied to bring windows into matrix order
  int64_t input_bytes = 0;
  int64_t weight_bytes = 0;
  int64_t output_bytes = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;

  // One image: as many inputs as the layer names, each with the shape given to the maker.
  virtual void run(const float* const* inputs, float* scratch, float* output) const = 0;
  virtual int64_t scratch_floats() const { return 0; }

  TensorShape output_shape;
  LayerWork work;
};

// Counts the weights of a whole model against a limit before any is allocated.
class WeightBudget {
 public:
  explicit WeightBudget(int64_t floats) : left_(floats) {}
  void take(int64_t floats, const LayerReader& reader);

 private:
  int64_t left_;
};

// What a maker is given; `original` has at least the layer's own name.
struct OperatorContext {
  LayerReader& reader;
  std::span<const TensorShape> inputs;
  std::span<const std::string> original;
  uint64_t seed;
  WeightBudget& budget;
};

// Throws ModelError for an unknown type, a wrong number of inputs and parameters that do not fit.
std::unique_ptr<Operator> make_operator(const std::string& type, const OperatorContext& context);

// The makers, by file.
std::unique_ptr<Operator> make_convolution(const OperatorContext& context);
std::unique_ptr<Operator> make_fused_relu(const OperatorContext& context);
std::unique_ptr<Operator> make_fused_leaky_relu(const OperatorContext& context);
std::unique_ptr<Operator> make_batch_norm(const OperatorContext& context);
std::unique_ptr<Operator> make_pool(const OperatorContext& context);
std::unique_ptr<Operator> make_fully_connected(const OperatorContext& context);
std::unique_ptr<Operator> make_relu(const OperatorContext& context);
std::unique_ptr<Operator> make_leaky_relu(const OperatorContext& context);
std::unique_ptr<Operator> make_softplus(const OperatorContext& context);
std::unique_ptr<Operator> make_tanh(const OperatorContext& context);
std::unique_ptr<Operator> make_multiply(const OperatorContext& context);
std::unique_ptr<Operator> make_add(const OperatorContext& context);
std::unique_ptr<Operator> make_softmax(const OperatorContext& context);

// Shared by the makers.
struct BatchNormParameters {
  std::vector<float> scale, shift;  // gamma / sqrt(variance + epsilon), and what is left to add
};
BatchNormParameters read_batch_norm(const OperatorContext& context, int64_t channels,
                                    const std::string& name);
std::vector<float> read_weights(const OperatorContext& context, const char* key, int64_t count,
                                const std::string& name, float low, float high);
int64_t vector_padded(const TensorShape& shape);

}  // namespace msprof::runtime
