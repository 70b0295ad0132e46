#include "runtime/model/weight_source.hpp"

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

}  // namespace

WeightSource::WeightSource(uint64_t seed, std::string_view layer_name, std::string_view what)
    : state_(hash(hash(hash(kFnvBasis ^ next(seed), layer_name), "/"), what)) {}

std::vector<float> WeightSource::uniform(int64_t count, float low, float high) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    // 24 bits are all that a float holds: the quotient is exact and below 1.
    const float unit = static_cast<float>(next(state_) >> 40) / 16777216.0F;
    value = low + unit * (high - low);
  }
  return values;
}

}  // namespace msprof::runtime
