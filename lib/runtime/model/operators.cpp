#include <array>
#include <cmath>

#include "runtime/model/operator.hpp"
#include "runtime/model/weight_source.hpp"

namespace msprof::runtime {
namespace {

struct Entry {
  const char* type;
  std::size_t inputs;
  std::unique_ptr<Operator> (*make)(const OperatorContext&);
};

constexpr std::array kOperators = {
    Entry{"Conv2D", 1, make_convolution},
    Entry{"ConvBNRelu", 1, make_fused_relu},
    Entry{"ConvBNLeakyRelu", 1, make_fused_leaky_relu},
    Entry{"BN", 1, make_batch_norm},
    Entry{"Relu", 1, make_relu},
    Entry{"LeakyRelu", 1, make_leaky_relu},
    Entry{"Softplus", 1, make_softplus},
    Entry{"Tanh", 1, make_tanh},
    Entry{"Mul", 2, make_multiply},
    Entry{"Add", 2, make_add},
    Entry{"Pool", 1, make_pool},
    Entry{"FullyConnected", 1, make_fully_connected},
    Entry{"Softmax", 1, make_softmax},
};

// Rows of the machine model's vector unit; see README.md.
constexpr int64_t kVectorLanes = 8;

}  // namespace

void WeightBudget::take(int64_t floats, const LayerReader& reader) {
  if (floats > left_) reader.fail("the model has more weights than the runtime allows");
  left_ -= floats;
}

int64_t vector_padded(const TensorShape& shape) {
  const int64_t row = (shape.width + kVectorLanes - 1) / kVectorLanes * kVectorLanes;
  return shape.channels * shape.height * row;
}

std::vector<float> read_weights(const OperatorContext& context, const char* key, int64_t count,
                                const std::string& name, float low, float high) {
  context.budget.take(count, context.reader);
  if (context.reader.has(key)) return context.reader.numbers(key, count);
  return WeightSource(context.seed, name, key).uniform(count, low, high);
}

BatchNormParameters read_batch_norm(const OperatorContext& context, int64_t channels,
                                    const std::string& name) {
  const std::vector<float> gamma = read_weights(context, "gamma", channels, name, 0.8F, 1.2F);
  const std::vector<float> beta = read_weights(context, "beta", channels, name, -0.1F, 0.1F);
  const std::vector<float> mean = read_weights(context, "mean", channels, name, -0.1F, 0.1F);
  const std::vector<float> variance = read_weights(context, "variance", channels, name, 0.5F, 1.5F);
  const float epsilon = context.reader.number("epsilon", 1e-5F);
  BatchNormParameters result;
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const float spread = variance[c] + epsilon;
    if (!(spread > 0.0F)) context.reader.fail("variance + epsilon must be above 0");
    result.scale.push_back(gamma[c] / std::sqrt(spread));
    result.shift.push_back(beta[c] - mean[c] * result.scale.back());
  }
  return result;
}

std::unique_ptr<Operator> make_operator(const std::string& type, const OperatorContext& context) {
  for (const Entry& entry : kOperators) {
    if (type != entry.type) continue;
    if (context.inputs.size() != entry.inputs) {
      context.reader.fail(type + " takes " + std::to_string(entry.inputs) +
                          (entry.inputs == 1 ? " input, not " : " inputs, not ") +
                          std::to_string(context.inputs.size()));
    }
    std::unique_ptr<Operator> made = entry.make(context);
    for (const TensorShape& input : context.inputs) made->work.input_bytes += input.bytes();
    made->work.output_bytes = made->output_shape.bytes();
    return made;
  }
  std::string known;
  for (const Entry& entry : kOperators)
    known += std::string(known.empty() ? "" : ", ") + entry.type;
  context.reader.fail("type \"" + type + "\" is none of " + known);
}

}  // namespace msprof::runtime
