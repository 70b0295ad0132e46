#include "runtime/engine/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace msprof::runtime {

namespace {

// Convolution is a matrix product over panels of 12 output pixels. A tile of 4 output channels × 12
// pixels uses 12 vector registers of 4 floats, which leaves SSE2 and NEON enough registers for the
// operands.

constexpr int64_t kRows = 4;
constexpr int64_t kPixels = 12;
// Above this depth, columns are copied first: read directly from the image, they are too far apart
// for the caches.
constexpr int64_t kDirectDepth = 64;

// GCC's portable vectors: SSE2 on x86-64, NEON on aarch64, plain code elsewhere.
typedef float Vec __attribute__((vector_size(16), aligned(4), may_alias));

inline Vec load(const float* from) {
  return *reinterpret_cast<const Vec*>(from);
}
inline void store(float* to, Vec value) {
  *reinterpret_cast<Vec*>(to) = value;
}
inline Vec splat(float value) {
  return Vec{value, value, value, value};
}

int64_t row_blocks(const WindowGeometry& g) {
  return (g.group_outputs() + kRows - 1) / kRows;
}
int64_t depth(const WindowGeometry& g) {
  return g.group_inputs() * g.kernel_height * g.kernel_width;
}
int64_t padded_height(const WindowGeometry& g) {
  return g.in_height + 2 * g.pad_height;
}
int64_t padded_width(const WindowGeometry& g) {
  return g.in_width + 2 * g.pad_width;
}
bool has_padding(const WindowGeometry& g) {
  return g.pad_height != 0 || g.pad_width != 0;
}

bool is_pointwise(const WindowGeometry& g) {
  return g.kernel_height == 1 && g.kernel_width == 1 && g.stride_height == 1 &&
         g.stride_width == 1 && !has_padding(g);
}

// tile[row][pixel] = sum over k of a[k][row] * b[k][pixel].
void multiply_tile(int64_t k_count, const float* a, const float* b, int64_t b_stride, float* tile) {
  Vec r0a = {}, r0b = {}, r0c = {}, r1a = {}, r1b = {}, r1c = {};
  Vec r2a = {}, r2b = {}, r2c = {}, r3a = {}, r3b = {}, r3c = {};
  for (int64_t k = 0; k < k_count; ++k, a += kRows, b += b_stride) {
    const Vec x = load(b), y = load(b + 4), z = load(b + 8);
    Vec w = splat(a[0]);
    r0a += w * x, r0b += w * y, r0c += w * z;
    w = splat(a[1]);
    r1a += w * x, r1b += w * y, r1c += w * z;
    w = splat(a[2]);
    r2a += w * x, r2b += w * y, r2c += w * z;
    w = splat(a[3]);
    r3a += w * x, r3b += w * y, r3c += w * z;
  }
  store(tile, r0a), store(tile + 4, r0b), store(tile + 8, r0c);
  store(tile + 12, r1a), store(tile + 16, r1b), store(tile + 20, r1c);
  store(tile + 24, r2a), store(tile + 28, r2b), store(tile + 32, r2c);
  store(tile + 36, r3a), store(tile + 40, r3b), store(tile + 44, r3c);
}

// Comparing vectors gives a mask that selects per lane, so there are no branches.
inline Vec activate(Vec value, Activation activation, float slope) {
  if (activation == Activation::kNoActivation) return value;
  const Vec other = activation == Activation::kRelu ? Vec{} : value * splat(slope);
  return value > Vec{} ? value : other;
}

inline float activate(float value, Activation activation, float slope) {
  if (activation == Activation::kNoActivation || value > 0.0F) return value;
  return activation == Activation::kRelu ? 0.0F : value * slope;
}

// Converts one row of sums to output. The activation is a template parameter to keep it out of the
// loop.
template <Activation kActivation>
void finish_row(const float* sums, int64_t count, float scale, float shift, float slope,
                float* out) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    store(out + i, activate(load(sums + i) * splat(scale) + splat(shift), kActivation, slope));
  }
  for (; i < count; ++i) out[i] = activate(sums[i] * scale + shift, kActivation, slope);
}

template <Activation kActivation>
void finish_tile(const float* tile, int64_t rows, int64_t pixels, int64_t channel, int64_t plane,
                 const Epilogue& e, float* out) {
  for (int64_t row = 0; row < rows; ++row, tile += kPixels, out += plane) {
    // Nearly every tile is full; the constant lets the compiler unroll the inner loop.
    const int64_t count = pixels == kPixels ? kPixels : pixels;
    finish_row<kActivation>(tile, count, e.scale[channel + row], e.shift[channel + row], e.slope,
                            out);
  }
}

// Copies the channels into planes with a border of zeros, so that inner loops need no bounds checks
// at the edge of the image.
void copy_padded(const WindowGeometry& g, const float* input, int64_t channels, float* padded) {
  const int64_t width = padded_width(g), height = padded_height(g);
  std::fill(padded, padded + channels * height * width, 0.0F);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < g.in_height; ++y) {
      std::memcpy(padded + (c * height + y + g.pad_height) * width + g.pad_width,
                  input + (c * g.in_height + y) * g.in_width,
                  static_cast<std::size_t>(g.in_width) * sizeof(float));
    }
  }
}

// Gathers the columns of up to 12 output pixels as [depth][12]; missing pixels are zero.
void gather_panel(const WindowGeometry& g, const float* padded, int64_t first, int64_t pixels,
                  float* panel) {
  const int64_t width = padded_width(g), plane = padded_height(g) * width;
  int64_t origin[kPixels];
  bool contiguous = pixels == kPixels;
  for (int64_t j = 0; j < pixels; ++j) {
    const int64_t y = (first + j) / g.out_width, x = (first + j) % g.out_width;
    origin[j] = y * g.stride_height * width + x * g.stride_width;
    contiguous = contiguous && origin[j] == origin[0] + j;
  }
  for (int64_t c = 0; c < g.group_inputs(); ++c) {
    for (int64_t ky = 0; ky < g.kernel_height; ++ky) {
      for (int64_t kx = 0; kx < g.kernel_width; ++kx, panel += kPixels) {
        const float* from = padded + c * plane + ky * width + kx;
        if (contiguous) {
          std::memcpy(panel, from + origin[0], kPixels * sizeof(float));
          continue;
        }
        for (int64_t j = 0; j < pixels; ++j) panel[j] = from[origin[j]];
        for (int64_t j = pixels; j < kPixels; ++j) panel[j] = 0.0F;
      }
    }
  }
}

template <Activation kActivation>
void convolve_group(const WindowGeometry& g, const float* image, const float* packed, int64_t group,
                    const Epilogue& e, float* panel, float* output) {
  const int64_t plane = g.out_height * g.out_width, k_count = depth(g), outputs = g.group_outputs();
  const bool direct = is_pointwise(g) && k_count <= kDirectDepth;
  float tile[kRows * kPixels];
  for (int64_t first = 0; first < plane; first += kPixels) {
    const int64_t pixels = std::min(kPixels, plane - first);
    const float* columns = panel;
    int64_t stride = kPixels;
    if (direct && pixels == kPixels) {
      columns = image + first;
      stride = plane;
    } else {
      gather_panel(g, image, first, pixels, panel);
    }
    for (int64_t block = 0; block < row_blocks(g); ++block) {
      const int64_t row = block * kRows, channel = group * outputs + row;
      multiply_tile(k_count, packed + block * k_count * kRows, columns, stride, tile);
      finish_tile<kActivation>(tile, std::min(kRows, outputs - row), pixels, channel, plane, e,
                               output + channel * plane + first);
    }
  }
}

// sums[x] = products of a 3 × 3 kernel, the most common size, in a single pass over three rows.
void sum_3x3(const float* from, int64_t width, const float* w, int64_t count,
             float* __restrict sums) {
  const float* top = from;
  const float* middle = from + width;
  const float* bottom = middle + width;
  for (int64_t x = 0; x < count; ++x) {
    sums[x] = w[0] * top[x] + w[1] * top[x + 1] + w[2] * top[x + 2] + w[3] * middle[x] +
              w[4] * middle[x + 1] + w[5] * middle[x + 2] + w[6] * bottom[x] +
              w[7] * bottom[x + 1] + w[8] * bottom[x + 2];
  }
}

// sums[x] = products of the window whose first row is `from`.
void sum_window(const WindowGeometry& g, const float* from, int64_t width, const float* weights,
                float* sums) {
  if (g.kernel_height == 3 && g.kernel_width == 3 && g.stride_width == 1) {
    sum_3x3(from, width, weights, g.out_width, sums);
    return;
  }
  std::fill(sums, sums + g.out_width, 0.0F);
  for (int64_t ky = 0; ky < g.kernel_height; ++ky, from += width) {
    for (int64_t kx = 0; kx < g.kernel_width; ++kx, ++weights) {
      for (int64_t x = 0; x < g.out_width; ++x) sums[x] += *weights * from[x * g.stride_width + kx];
    }
  }
}

template <Activation kActivation>
void convolve_depthwise(const WindowGeometry& g, const float* input, const float* weights,
                        const Epilogue& e, float* scratch, float* output) {
  const int64_t width = padded_width(g), taps = g.kernel_height * g.kernel_width;
  float* sums = scratch;
  float* padded = scratch + g.out_width;
  for (int64_t c = 0; c < g.in_channels; ++c) {
    const float* plane = input + c * g.in_height * g.in_width;
    if (has_padding(g)) {
      copy_padded(g, plane, 1, padded);
      plane = padded;
    }
    for (int64_t y = 0; y < g.out_height; ++y) {
      sum_window(g, plane + y * g.stride_height * width, width, weights + c * taps, sums);
      finish_row<kActivation>(sums, g.out_width, e.scale[c], e.shift[c], e.slope,
                              output + (c * g.out_height + y) * g.out_width);
    }
  }
}

template <Activation kActivation>
void convolve_with(const WindowGeometry& g, const float* input, const float* packed,
                   const Epilogue& epilogue, float* scratch, float* output) {
  if (g.is_depthwise()) {
    convolve_depthwise<kActivation>(g, input, packed, epilogue, scratch, output);
    return;
  }
  float* panel = scratch;
  float* padded = scratch + depth(g) * kPixels;
  for (int64_t group = 0; group < g.groups; ++group) {
    const float* image = input + group * g.group_inputs() * g.in_height * g.in_width;
    if (has_padding(g)) {
      copy_padded(g, image, g.group_inputs(), padded);
      image = padded;
    }
    convolve_group<kActivation>(g, image, packed + group * row_blocks(g) * kRows * depth(g), group,
                                epilogue, panel, output);
  }
}

// The part of a window that lies inside the input: [begin, end) on one axis.
struct Range {
  int64_t begin, end;
};

Range inside(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t size) {
  const int64_t begin = out * stride - pad;
  return {std::max<int64_t>(begin, 0), std::min(begin + kernel, size)};
}

template <typename Reduce>
void pool(const WindowGeometry& g, const float* input, float* output, Reduce reduce) {
  for (int64_t c = 0; c < g.in_channels; ++c, input += g.in_height * g.in_width) {
    for (int64_t y = 0; y < g.out_height; ++y) {
      const Range rows = inside(y, g.stride_height, g.pad_height, g.kernel_height, g.in_height);
      for (int64_t x = 0; x < g.out_width; ++x) {
        const Range columns = inside(x, g.stride_width, g.pad_width, g.kernel_width, g.in_width);
        *output++ = reduce(input, rows, columns, g.in_width);
      }
    }
  }
}

}  // namespace

std::size_t packed_weight_floats(const WindowGeometry& g) {
  if (g.is_depthwise()) return static_cast<std::size_t>(g.out_channels * depth(g));
  return static_cast<std::size_t>(g.groups * row_blocks(g) * kRows * depth(g));
}

void pack_weights(const WindowGeometry& g, const float* weights, float* packed) {
  const int64_t k_count = depth(g);
  if (g.is_depthwise()) {
    std::copy(weights, weights + g.out_channels * k_count, packed);
    return;
  }
  std::fill(packed, packed + packed_weight_floats(g), 0.0F);
  for (int64_t channel = 0; channel < g.out_channels; ++channel) {
    const int64_t group = channel / g.group_outputs(), row = channel % g.group_outputs();
    float* block = packed + (group * row_blocks(g) + row / kRows) * kRows * k_count;
    for (int64_t k = 0; k < k_count; ++k)
      block[k * kRows + row % kRows] = weights[channel * k_count + k];
  }
}

std::size_t convolution_scratch_floats(const WindowGeometry& g) {
  const int64_t plane = has_padding(g) ? padded_height(g) * padded_width(g) : 0;
  if (g.is_depthwise()) return static_cast<std::size_t>(g.out_width + plane);
  return static_cast<std::size_t>(depth(g) * kPixels + plane * g.group_inputs());
}

void convolve(const WindowGeometry& g, const float* input, const float* packed,
              const Epilogue& epilogue, float* scratch, float* output) {
  switch (epilogue.activation) {
    case Activation::kNoActivation:
      return convolve_with<Activation::kNoActivation>(g, input, packed, epilogue, scratch, output);
    case Activation::kRelu:
      return convolve_with<Activation::kRelu>(g, input, packed, epilogue, scratch, output);
    case Activation::kLeakyRelu:
      return convolve_with<Activation::kLeakyRelu>(g, input, packed, epilogue, scratch, output);
  }
}

void scale_and_shift(const float* input, const float* scale, const float* shift, int64_t channels,
                     int64_t plane, float* output) {
  for (int64_t c = 0; c < channels; ++c) {
    const float a = scale[c], b = shift[c];
    const float* from = input + c * plane;
    float* to = output + c * plane;
    for (int64_t i = 0; i < plane; ++i) to[i] = from[i] * a + b;
  }
}

void relu(const float* input, int64_t count, float* output) {
  for (int64_t i = 0; i < count; ++i) output[i] = input[i] > 0.0F ? input[i] : 0.0F;
}

void leaky_relu(const float* input, float slope, int64_t count, float* output) {
  for (int64_t i = 0; i < count; ++i) output[i] = input[i] > 0.0F ? input[i] : input[i] * slope;
}

// log(1 + e^x), written so that e^x never overflows.
void softplus(const float* input, int64_t count, float* output) {
  for (int64_t i = 0; i < count; ++i) {
    output[i] = std::max(input[i], 0.0F) + std::log1p(std::exp(-std::fabs(input[i])));
  }
}

void hyperbolic_tangent(const float* input, int64_t count, float* output) {
  for (int64_t i = 0; i < count; ++i) output[i] = std::tanh(input[i]);
}

void multiply(const float* left, const float* right, int64_t count, float* output) {
  for (int64_t i = 0; i < count; ++i) output[i] = left[i] * right[i];
}

void add(const float* left, const float* right, int64_t count, float* output) {
  for (int64_t i = 0; i < count; ++i) output[i] = left[i] + right[i];
}

void to_blocks(const float* input, int64_t channels, int64_t plane, int64_t block, float* output) {
  for (int64_t first = 0; first < channels; first += block) {
    const int64_t filled = std::min(block, channels - first);
    for (int64_t i = 0; i < plane; ++i, output += block) {
      for (int64_t c = 0; c < filled; ++c) output[c] = input[(first + c) * plane + i];
      for (int64_t c = filled; c < block; ++c) output[c] = 0.0F;
    }
  }
}

void from_blocks(const float* input, int64_t channels, int64_t plane, int64_t block,
                 float* output) {
  for (int64_t first = 0; first < channels; first += block) {
    const int64_t filled = std::min(block, channels - first);
    for (int64_t i = 0; i < plane; ++i, input += block) {
      for (int64_t c = 0; c < filled; ++c) output[(first + c) * plane + i] = input[c];
    }
  }
}

void softmax(const float* input, int64_t channels, int64_t plane, float* output) {
  for (int64_t i = 0; i < plane; ++i) {
    float largest = input[i];
    for (int64_t c = 1; c < channels; ++c) largest = std::max(largest, input[c * plane + i]);
    float sum = 0.0F;
    for (int64_t c = 0; c < channels; ++c) {
      const float value = std::exp(input[c * plane + i] - largest);
      output[c * plane + i] = value;
      sum += value;
    }
    for (int64_t c = 0; c < channels; ++c) output[c * plane + i] /= sum;
  }
}

void max_pool(const WindowGeometry& g, const float* input, float* output) {
  pool(g, input, output, [](const float* plane, Range rows, Range columns, int64_t width) {
    float largest = plane[rows.begin * width + columns.begin];
    for (int64_t y = rows.begin; y < rows.end; ++y) {
      for (int64_t x = columns.begin; x < columns.end; ++x)
        largest = std::max(largest, plane[y * width + x]);
    }
    return largest;
  });
}

void average_pool(const WindowGeometry& g, const float* input, float* output) {
  pool(g, input, output, [](const float* plane, Range rows, Range columns, int64_t width) {
    float sum = 0.0F;
    for (int64_t y = rows.begin; y < rows.end; ++y) {
      for (int64_t x = columns.begin; x < columns.end; ++x) sum += plane[y * width + x];
    }
    return sum / static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
  });
}

// Uses eight independent sums. With a single sum, each addition would wait for the previous one;
// the compiler may not reorder float additions.
void fully_connected(const float* input, const float* weights, const float* bias, int64_t inputs,
                     int64_t outputs, float* output) {
  constexpr int64_t kLanes = 8;
  for (int64_t o = 0; o < outputs; ++o, weights += inputs) {
    float lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= inputs; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] += input[i + lane] * weights[i + lane];
    }
    float sum = bias[o];
    for (; i < inputs; ++i) sum += input[i] * weights[i];
    for (const float lane : lanes) sum += lane;
    output[o] = sum;
  }
}

}  // namespace msprof::runtime
