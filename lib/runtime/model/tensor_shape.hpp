// The size of one image of a tensor: channels, rows, columns. A vector is channels × 1 × 1.
#pragma once

#include <cstdint>

namespace msprof::runtime {

struct TensorShape {
  int64_t channels = 1;
  int64_t height = 1;
  int64_t width = 1;

  int64_t plane() const { return height * width; }
  int64_t elements() const { return channels * plane(); }
  int64_t bytes() const { return elements() * 4; }
  bool operator==(const TensorShape&) const = default;
};

}  // namespace msprof::runtime
