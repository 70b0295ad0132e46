#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/engine/kernels/kernels.hpp"
#include "runtime/engine/model/operator.hpp"

namespace msprof::runtime {

namespace {

// FNV-1a (public domain): offset basis and prime for 64 bits.
constexpr uint64_t kFnvBasis = 0xcbf29ce484222325U;
constexpr uint64_t kFnvPrime = 0x100000001b3U;

uint64_t hash(uint64_t state, std::string_view bytes) {
  for (const char byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * kFnvPrime;
  return state;
}

// splitmix64 (public domain): every state gives a well-mixed number.
uint64_t next(uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31);
}

// Pseudo-random weights derived from the model's seed and a name, so that no file is needed. A
// layer and its fused form use the same original names and therefore compute the same values.
class WeightSource {
 public:
  // `what` selects one of the sequences of a layer: "weights", "bias", "gamma", …
  WeightSource(uint64_t seed, std::string_view layer_name, std::string_view what)
      : state_(hash(hash(hash(kFnvBasis ^ next(seed), layer_name), "/"), what)) {}

  // Uniform in [low, high).
  std::vector<float> uniform(int64_t count, float low, float high) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
      // A float has 24 significant bits, so the quotient is exact and below 1.
      const float unit = static_cast<float>(next(state_) >> 40) / 16777216.0F;
      value = low + unit * (high - low);
    }
    return values;
  }

 private:
  uint64_t state_;
};

struct BatchNormParameters {
  std::vector<float> scale, shift;  // y = x * scale + shift; scale = gamma / sqrt(variance +
                                    // epsilon)
};

// Row width of the machine model's vector unit; see README.md.
constexpr int64_t kVectorLanes = 8;

int64_t vector_padded(const TensorShape& shape) {
  const int64_t row = (shape.width + kVectorLanes - 1) / kVectorLanes * kVectorLanes;
  return shape.stored_channels() * shape.height * row;
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
    if (!(spread > 0.0F)) context.reader.fail("variance + epsilon must be > 0");
    result.scale.push_back(gamma[c] / std::sqrt(spread));
    result.shift.push_back(beta[c] - mean[c] * result.scale.back());
  }
  return result;
}

// Operators without a window: BN, the activations, Mul, Add, Softmax and FullyConnected.

constexpr int64_t kMaxOutputs = 65536;
// Vector steps per element in the machine model: a transcendental function is a short polynomial.
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

// Copies a tensor from NCHW to NC1HWC0 or back.
class TransData : public Operator {
 public:
  explicit TransData(const OperatorContext& context) {
    LayerReader& reader = context.reader;
    const std::string to = reader.text("to");
    if (to != "NC1HWC0" && to != "NCHW") reader.fail("\"to\" must be \"NC1HWC0\" or \"NCHW\"");
    output_shape = context.inputs[0];
    output_shape.is_blocked = to == "NC1HWC0";
    if (output_shape == context.inputs[0])
      reader.fail("the input is in the order " + to + " already");
    work.relayout_bytes = output_shape.bytes();
  }

  void run(const float* const* inputs, float*, float* output) const override {
    (output_shape.is_blocked ? to_blocks : from_blocks)(
        inputs[0], output_shape.channels, output_shape.plane(), kBlockChannels, output);
  }
};

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

std::unique_ptr<Operator> make_batch_norm(const OperatorContext& context) {
  return std::make_unique<BatchNorm>(context);
}

std::unique_ptr<Operator> make_trans_data(const OperatorContext& context) {
  return std::make_unique<TransData>(context);
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

// Operators that slide a window: Conv2D and its fused forms, and Pool.

constexpr int64_t kMaxChannels = 65536;
constexpr int64_t kMaxKernel = 64;
// Tile size of the machine model's matrix unit, in output channels × pixels; see README.md.
constexpr int64_t kTileChannels = 4;
constexpr int64_t kTilePixels = 12;

int64_t round_up(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

WindowGeometry read_window(const OperatorContext& context) {
  LayerReader& reader = context.reader;
  WindowGeometry g;
  g.in_channels = context.inputs[0].channels;
  g.in_height = context.inputs[0].height;
  g.in_width = context.inputs[0].width;
  std::tie(g.kernel_height, g.kernel_width) = reader.pair("kernel", 1, kMaxKernel, 1);
  std::tie(g.stride_height, g.stride_width) = reader.pair("stride", 1, kMaxKernel, 1);
  std::tie(g.pad_height, g.pad_width) = reader.pair("pad", 0, kMaxKernel - 1, 0);
  if (g.pad_height >= g.kernel_height && g.pad_height > 0)
    reader.fail("\"pad\" must be < \"kernel\"");
  if (g.pad_width >= g.kernel_width && g.pad_width > 0) reader.fail("\"pad\" must be < \"kernel\"");
  const int64_t rows = g.in_height + 2 * g.pad_height - g.kernel_height;
  const int64_t columns = g.in_width + 2 * g.pad_width - g.kernel_width;
  if (rows < 0 || columns < 0) reader.fail("the kernel is larger than the padded input");
  g.out_height = rows / g.stride_height + 1;
  g.out_width = columns / g.stride_width + 1;
  return g;
}

class Convolution : public Operator {
 public:
  Convolution(const OperatorContext& context, Activation activation, float slope, bool fused)
      : activation_(activation), slope_(slope), g_(read_window(context)) {
    LayerReader& reader = context.reader;
    g_.out_channels = reader.integer("out_channels", 1, kMaxChannels);
    g_.groups = reader.integer("groups", 1, kMaxChannels, 1);
    if (g_.in_channels % g_.groups != 0 || g_.out_channels % g_.groups != 0) {
      reader.fail("\"groups\" must divide " + std::to_string(g_.in_channels) +
                  " input channels and \"out_channels\"");
    }
    output_shape = {g_.out_channels, g_.out_height, g_.out_width};
    read_parameters(context, fused);
    measure(fused);
  }

  void run(const float* const* inputs, float* scratch, float* output) const override {
    convolve(g_, inputs[0], packed_.data(), {scale_.data(), shift_.data(), activation_, slope_},
             scratch, output);
  }
  int64_t scratch_floats() const override {
    return static_cast<int64_t>(convolution_scratch_floats(g_));
  }

 private:
  void read_parameters(const OperatorContext& context, bool fused) {
    const std::string& name = context.original[0];
    const int64_t fan_in = g_.group_inputs() * g_.kernel_height * g_.kernel_width;
    const float bound = std::sqrt(6.0F / static_cast<float>(fan_in));
    const std::vector<float> weights =
        read_weights(context, "weights", g_.out_channels * fan_in, name, -bound, bound);
    packed_.resize(packed_weight_floats(g_));
    pack_weights(g_, weights.data(), packed_.data());

    const auto channels = static_cast<std::size_t>(g_.out_channels);
    scale_.assign(channels, 1.0F);
    shift_.assign(channels, 0.0F);
    if (context.reader.flag("with_bias", true) || context.reader.has("bias")) {
      shift_ = read_weights(context, "bias", g_.out_channels, name, -0.1F, 0.1F);
    }
    if (!fused) return;
    // BN of (sum + bias) is sum * scale + (bias * scale + shift).
    const BatchNormParameters norm = read_batch_norm(
        context, g_.out_channels, context.original.size() > 1 ? context.original[1] : name);
    for (std::size_t c = 0; c < channels; ++c)
      shift_[c] = shift_[c] * norm.scale[c] + norm.shift[c];
    scale_ = norm.scale;
  }

  void measure(bool fused) {
    const int64_t pixels = output_shape.plane(), taps = g_.kernel_height * g_.kernel_width;
    const int64_t depth = g_.group_inputs() * taps;
    work.macs = g_.out_channels * pixels * depth;
    work.padded_macs = g_.groups * round_up(g_.group_outputs(), kTileChannels) *
                       round_up(pixels, kTilePixels) * depth;
    work.vector_ops = output_shape.elements() * (fused ? 2 : 1);
    work.padded_vector_ops = vector_padded(output_shape) * (fused ? 2 : 1);
    work.relayout_bytes = taps == 1 ? 0 : g_.in_channels * taps * pixels * 4;
    work.weight_bytes = (g_.out_channels * depth + g_.out_channels * (fused ? 2 : 1)) * 4;
  }

  Activation activation_;
  float slope_;
  WindowGeometry g_;
  std::vector<float> packed_, scale_, shift_;
};

class Pool : public Operator {
 public:
  explicit Pool(const OperatorContext& context) {
    LayerReader& reader = context.reader;
    const std::string mode = reader.text("mode");
    if (mode != "max" && mode != "avg") reader.fail("\"mode\" must be \"max\" or \"avg\"");
    finds_largest_ = mode == "max";
    if (reader.flag("global", false)) {
      g_.in_channels = context.inputs[0].channels;
      g_.in_height = g_.kernel_height = context.inputs[0].height;
      g_.in_width = g_.kernel_width = context.inputs[0].width;
      g_.out_height = g_.out_width = 1;
    } else {
      g_ = read_window(context);
    }
    output_shape = {g_.in_channels, g_.out_height, g_.out_width};
    const int64_t taps = g_.kernel_height * g_.kernel_width;
    work.vector_ops = output_shape.elements() * taps;
    work.padded_vector_ops = vector_padded(output_shape) * taps;
  }

  void run(const float* const* inputs, float*, float* output) const override {
    (finds_largest_ ? max_pool : average_pool)(g_, inputs[0], output);
  }

 private:
  bool finds_largest_ = true;
  WindowGeometry g_;
};

std::unique_ptr<Operator> make_convolution(const OperatorContext& context) {
  return std::make_unique<Convolution>(context, Activation::kNoActivation, 0.0F, false);
}

std::unique_ptr<Operator> make_fused_relu(const OperatorContext& context) {
  return std::make_unique<Convolution>(context, Activation::kRelu, 0.0F, true);
}

std::unique_ptr<Operator> make_fused_leaky_relu(const OperatorContext& context) {
  return std::make_unique<Convolution>(context, Activation::kLeakyRelu,
                                       context.reader.number("slope", 0.1F), true);
}

std::unique_ptr<Operator> make_pool(const OperatorContext& context) {
  return std::make_unique<Pool>(context);
}

enum class Layouts { nchw, any };

struct OperatorEntry {
  const char* type;
  std::size_t inputs;
  Layouts layouts;
  std::unique_ptr<Operator> (*make)(const OperatorContext&);
};

constexpr std::array kOperators = {
    OperatorEntry{"Conv2D", 1, Layouts::nchw, make_convolution},
    OperatorEntry{"ConvBNRelu", 1, Layouts::nchw, make_fused_relu},
    OperatorEntry{"ConvBNLeakyRelu", 1, Layouts::nchw, make_fused_leaky_relu},
    OperatorEntry{"BN", 1, Layouts::nchw, make_batch_norm},
    OperatorEntry{"BNInferenceD", 1, Layouts::nchw, make_batch_norm},
    OperatorEntry{"TransData", 1, Layouts::any, make_trans_data},
    OperatorEntry{"Relu", 1, Layouts::any, make_relu},
    OperatorEntry{"LeakyRelu", 1, Layouts::any, make_leaky_relu},
    OperatorEntry{"Softplus", 1, Layouts::any, make_softplus},
    OperatorEntry{"Tanh", 1, Layouts::any, make_tanh},
    OperatorEntry{"Mul", 2, Layouts::any, make_multiply},
    OperatorEntry{"Add", 2, Layouts::any, make_add},
    OperatorEntry{"Pool", 1, Layouts::nchw, make_pool},
    OperatorEntry{"FullyConnected", 1, Layouts::nchw, make_fully_connected},
    OperatorEntry{"Softmax", 1, Layouts::nchw, make_softmax},
};

}  // namespace

void WeightBudget::take(int64_t floats, const LayerReader& reader) {
  if (floats > left_) reader.fail("the model has more weights than the runtime allows");
  left_ -= floats;
}

std::unique_ptr<Operator> make_operator(const std::string& type, const OperatorContext& context) {
  for (const OperatorEntry& entry : kOperators) {
    if (type != entry.type) continue;
    if (context.inputs.size() != entry.inputs) {
      context.reader.fail(type + " takes " + std::to_string(entry.inputs) +
                          (entry.inputs == 1 ? " input, not " : " inputs, not ") +
                          std::to_string(context.inputs.size()));
    }
    for (const TensorShape& input : context.inputs) {
      if (input.is_blocked && entry.layouts == Layouts::nchw)
        context.reader.fail(type +
                            " accepts inputs only in NCHW order: convert them with TransData");
    }
    std::unique_ptr<Operator> made = entry.make(context);
    for (const TensorShape& input : context.inputs) made->work.input_bytes += input.bytes();
    made->work.output_bytes = made->output_shape.bytes();
    return made;
  }
  std::string known;
  for (const OperatorEntry& entry : kOperators)
    known += std::string(known.empty() ? "" : ", ") + entry.type;
  context.reader.fail("type \"" + type + "\" is not one of " + known);
}

}  // namespace msprof::runtime
