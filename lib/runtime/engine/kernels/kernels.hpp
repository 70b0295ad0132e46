// float32 kernels of the operators, one image at a time unless stated otherwise. Only for the
// operators of runtime/model: these functions do not check sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::runtime {

enum class Activation { kNoActivation, kRelu, kLeakyRelu };

// Geometry of a convolution or pool, in elements. Output sizes follow from the rest.
struct WindowGeometry {
  int64_t in_channels = 0, in_height = 0, in_width = 0;
  int64_t out_channels = 0, out_height = 0, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t pad_height = 0, pad_width = 0;
  int64_t groups = 1;

  int64_t group_inputs() const { return in_channels / groups; }
  int64_t group_outputs() const { return out_channels / groups; }
  bool is_depthwise() const { return group_inputs() == 1 && group_outputs() == 1; }
};

// Applied to each output element before it is stored: x * scale[c] + shift[c], then the activation.
struct Epilogue {
  const float* scale = nullptr;
  const float* shift = nullptr;
  Activation activation = Activation::kNoActivation;
  float slope = 0.0F;
};

// Packs weights from [out_channels][group_inputs][kernel_height][kernel_width] into the order in
// which the convolution reads them.
std::size_t packed_weight_floats(const WindowGeometry& geometry);
void pack_weights(const WindowGeometry& geometry, const float* weights, float* packed);

std::size_t convolution_scratch_floats(const WindowGeometry& geometry);
void convolve(const WindowGeometry& geometry, const float* input, const float* packed,
              const Epilogue& epilogue, float* scratch, float* output);

void scale_and_shift(const float* input, const float* scale, const float* shift, int64_t channels,
                     int64_t plane, float* output);
void relu(const float* input, int64_t count, float* output);
void leaky_relu(const float* input, float slope, int64_t count, float* output);
void softplus(const float* input, int64_t count, float* output);
void hyperbolic_tangent(const float* input, int64_t count, float* output);
void multiply(const float* left, const float* right, int64_t count, float* output);
void add(const float* left, const float* right, int64_t count, float* output);

// Convert one image between NCHW and NC1HWC0 with blocks of `block` channels. The last block is
// padded with zeros.
void to_blocks(const float* input, int64_t channels, int64_t plane, int64_t block, float* output);
void from_blocks(const float* input, int64_t channels, int64_t plane, int64_t block, float* output);

// Padding is never counted: the mean covers only the elements inside the input.
void max_pool(const WindowGeometry& geometry, const float* input, float* output);
void average_pool(const WindowGeometry& geometry, const float* input, float* output);

// weights: [outputs][inputs]; bias: one float per output.
void fully_connected(const float* input, const float* weights, const float* bias, int64_t inputs,
                     int64_t outputs, float* output);
// Normalizes over the channels at each of `plane` positions.
void softmax(const float* input, int64_t channels, int64_t plane, float* output);

}  // namespace msprof::runtime
