// sample(): a few of many values; with `scripts/soak suite`, all. For tests that loop over every
// field, cut or kind of board.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

namespace msprof::test {

// MSPROF_TEST_SEED; 1 if it is not set.
inline std::uint32_t test_seed() {
  const char* text = std::getenv("MSPROF_TEST_SEED");
  return text == nullptr ? 1 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

// True if every value must be tried: MSPROF_TEST_WHOLE is set.
inline bool tests_whole() {
  return std::getenv("MSPROF_TEST_WHOLE") != nullptr;
}

// Returns `count` of the values, in order, chosen by the seed; all if tests_whole().
template <typename Value>
std::vector<Value> sample(const std::vector<Value>& values, std::size_t count,
                          std::uint32_t seed = test_seed()) {
  if (tests_whole() || values.size() <= count) return values;
  std::vector<Value> some;
  std::mt19937 random(seed);
  std::sample(values.begin(), values.end(), std::back_inserter(some), count, random);
  return some;
}

// The same for the numbers from 0 to `end` - 1.
inline std::vector<std::size_t> sample_below(std::size_t end, std::size_t count,
                                             std::uint32_t seed = test_seed()) {
  std::vector<std::size_t> numbers(end);
  for (std::size_t i = 0; i < end; ++i) numbers[i] = i;
  return sample(numbers, count, seed);
}

}  // namespace msprof::test
