// Limits of a store. Readers keep some data of each device, and of each step and model of a board,
// in memory: sessions leave out raw data beyond the limits, and a store beyond them is not opened.
#pragma once

#include <cstddef>

namespace msprof::store_limit {

inline constexpr std::size_t kDevices = 20'000;
inline constexpr std::size_t kBoardSteps = 1'000'000;
inline constexpr std::size_t kBoardModels = 100'000;

}  // namespace msprof::store_limit
