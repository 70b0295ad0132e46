// BN, the activations, Mul, Add, Softmax and FullyConnected: the operators without a window.
#include <cmath>
#include <string>
#include <utility>

#include "runtime/kernels/kernels.hpp"
#include "runtime/model/operator.hpp"

namespace msprof::runtime {
namespace {

constexpr int64_t kMaxOutputs = 65536;
// Vector steps of one element in the machine model: a transcendental function is a short
// polynomial.
constexpr int64_t kSimpleSteps = 1;
constexpr int64_t kExpSteps = 8;
constexpr int64_t kTanhSteps = 12;
constexpr int64_t kSoftplusSteps = 16;

class BatchNorm : public Operator {
 public:
  explicit BatchNorm(const OperatorContext& context)
      : parameters_(read_batch_norm(context, context.inputs[0].channels, context.original[0])) {
    output_shape = context.inputs[0];
    work.vector_ops = 2 * output_shape.elements();
    work.padded_vector_ops = 2 * vector_padded(output_shape);
    work.weight_bytes = 2 * output_shape.channels * 4;
  }

  void run(const float* const* inputs, float*, float* output) const override {
    scale_and_shift(inputs[0], parameters_.scale.data(), parameters_.shift.data(),
                    output_shape.channels, output_shape.plane(), output);
  }

 private:
  BatchNormParameters parameters_;
};

// An operator whose output has the shape of its inputs and whose kernel is a callable.
template <typename Kernel>
class Elementwise : public Operator {
 public:
  Elementwise(const OperatorContext& context, int64_t steps, Kernel kernel)
      : kernel_(std::move(kernel)) {
    output_shape = context.inputs[0];
    for (const TensorShape& input : context.inputs) {
      if (input != output_shape) context.reader.fail("the inputs must have the same shape");
    }
    work.vector_ops = steps * output_shape.elements();
    work.padded_vector_ops = steps * vector_padded(output_shape);
  }

  void run(const float* const* inputs, float*, float* output) const override {
    kernel_(inputs, output_shape, output);
  }

 private:
  Kernel kernel_;
};

template <typename Kernel>
std::unique_ptr<Operator> elementwise(const OperatorContext& context, int64_t steps,
                                      Kernel kernel) {
  return std::make_unique<Elementwise<Kernel>>(context, steps, std::move(kernel));
}

class FullyConnected : public Operator {
 public:
  explicit FullyConnected(const OperatorContext& context) : inputs_(context.inputs[0].elements()) {
    const int64_t outputs = context.reader.integer("out_features", 1, kMaxOutputs);
    output_shape = {outputs, 1, 1};
    const float bound = std::sqrt(6.0F / static_cast<float>(inputs_));
    weights_ =
        read_weights(context, "weights", inputs_ * outputs, context.original[0], -bound, bound);
    bias_.assign(static_cast<std::size_t>(outputs), 0.0F);
    if (context.reader.flag("with_bias", true) || context.reader.has("bias")) {
      bias_ = read_weights(context, "bias", outputs, context.original[0], -0.1F, 0.1F);
    }
    work.macs = work.padded_macs = inputs_ * outputs;
    work.vector_ops = outputs;
    work.padded_vector_ops = vector_padded(output_shape);
    work.weight_bytes = (inputs_ + 1) * outputs * 4;
  }

  void run(const float* const* inputs, float*, float* output) const override {
    fully_connected(inputs[0], weights_.data(), bias_.data(), inputs_, output_shape.channels,
                    output);
  }

 private:
  int64_t inputs_;
  std::vector<float> weights_, bias_;
};

}  // namespace

std::unique_ptr<Operator> make_batch_norm(const OperatorContext& context) {
  return std::make_unique<BatchNorm>(context);
}

std::unique_ptr<Operator> make_relu(const OperatorContext& context) {
  return elementwise(context, kSimpleSteps,
                     [](const float* const* in, const TensorShape& shape, float* out) {
                       relu(in[0], shape.elements(), out);
                     });
}

std::unique_ptr<Operator> make_leaky_relu(const OperatorContext& context) {
  const float slope = context.reader.number("slope", 0.1F);
  return elementwise(context, 2 * kSimpleSteps,
                     [slope](const float* const* in, const TensorShape& shape, float* out) {
                       leaky_relu(in[0], slope, shape.elements(), out);
                     });
}

std::unique_ptr<Operator> make_softplus(const OperatorContext& context) {
  return elementwise(context, kSoftplusSteps,
                     [](const float* const* in, const TensorShape& shape, float* out) {
                       softplus(in[0], shape.elements(), out);
                     });
}

std::unique_ptr<Operator> make_tanh(const OperatorContext& context) {
  return elementwise(context, kTanhSteps,
                     [](const float* const* in, const TensorShape& shape, float* out) {
                       hyperbolic_tangent(in[0], shape.elements(), out);
                     });
}

std::unique_ptr<Operator> make_multiply(const OperatorContext& context) {
  return elementwise(context, kSimpleSteps,
                     [](const float* const* in, const TensorShape& shape, float* out) {
                       multiply(in[0], in[1], shape.elements(), out);
                     });
}

std::unique_ptr<Operator> make_add(const OperatorContext& context) {
  return elementwise(context, kSimpleSteps,
                     [](const float* const* in, const TensorShape& shape, float* out) {
                       add(in[0], in[1], shape.elements(), out);
                     });
}

std::unique_ptr<Operator> make_softmax(const OperatorContext& context) {
  return elementwise(context, kExpSteps,
                     [](const float* const* in, const TensorShape& shape, float* out) {
                       softmax(in[0], shape.channels, shape.plane(), out);
                     });
}

std::unique_ptr<Operator> make_fully_connected(const OperatorContext& context) {
  return std::make_unique<FullyConnected>(context);
}

}  // namespace msprof::runtime
