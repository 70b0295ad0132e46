// Cells of the common tables hold: nothing, or a number that stands for something. For whoever
// makes rows and whoever reads them.
#pragma once

#include <cstdint>
#include <optional>

namespace msprof {

// A cell without a value.
inline constexpr std::int64_t kNull = INT64_MIN;

// The value of a cell that may be without one.
inline std::optional<std::int64_t> given(std::int64_t cell) {
  return cell == kNull ? std::nullopt : std::optional(cell);
}

}  // namespace msprof
