#include <algorithm>
#include <cmath>

#include "runtime/kernels/kernels.hpp"

namespace msprof::runtime {

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

}  // namespace msprof::runtime
