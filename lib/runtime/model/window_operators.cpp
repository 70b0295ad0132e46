// Conv2D and its fused forms, and Pool: the operators that slide a window.
#include <cmath>
#include <string>

#include "runtime/kernels/kernels.hpp"
#include "runtime/model/operator.hpp"

namespace msprof::runtime {
namespace {

constexpr int64_t kMaxChannels = 65536;
constexpr int64_t kMaxKernel = 64;
// The matrix unit of the machine model works on tiles of this many output channels × pixels; see
// README.md.
constexpr int64_t kTileChannels = 4;
constexpr int64_t kTilePixels = 12;

int64_t round_up(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

// Kernel, stride and padding, and from them the output rows and columns.
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
    reader.fail("\"pad\" must be below \"kernel\"");
  if (g.pad_width >= g.kernel_width && g.pad_width > 0)
    reader.fail("\"pad\" must be below \"kernel\"");
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
    largest_ = mode == "max";
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
    (largest_ ? max_pool : average_pool)(g_, inputs[0], output);
  }

 private:
  bool largest_ = true;
  WindowGeometry g_;
};

}  // namespace

std::unique_ptr<Operator> make_convolution(const OperatorContext& context) {
  return std::make_unique<Convolution>(context, Activation::kNone, 0.0F, false);
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

}  // namespace msprof::runtime
