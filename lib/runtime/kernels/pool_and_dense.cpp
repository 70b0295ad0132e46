#include <algorithm>

#include "runtime/kernels/kernels.hpp"

namespace msprof::runtime {
namespace {

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

// Eight sums side by side: a single one would wait for each addition, and the compiler may not
// reorder floats.
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
