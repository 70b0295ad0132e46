// Weights that need no file: numbers drawn from the model's seed and the name they belong to.
// A layer and its fused form draw from the same original names, so both compute the same values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace msprof::runtime {

class WeightSource {
 public:
  // `what` separates the draws of one layer: "weights", "bias", "gamma", …
  WeightSource(uint64_t seed, std::string_view layer_name, std::string_view what);

  // Uniform in [low, high).
  std::vector<float> uniform(int64_t count, float low, float high);

 private:
  uint64_t state_;
};

}  // namespace msprof::runtime
