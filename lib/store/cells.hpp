// Special values in cells of the common tables: missing values, and numbers with a meaning. For
// code that writes or reads rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msprof {

// Marks a cell without a value.
inline constexpr std::int64_t kNull = INT64_MIN;

// No value in 32-bit fields of raw records and in products: no model, no context, no data type. The
// store uses kNull instead.
inline constexpr std::uint32_t kInvalidId = UINT32_MAX;

// Software layers of a CANN call (ApiCallRow.level), as numbered in raw records. Source:
// cann_host.md 1.4.
namespace call_level {
inline constexpr std::uint16_t kAcl = 20000;
inline constexpr std::uint16_t kModel = 15000;
inline constexpr std::uint16_t kNode = 10000;
inline constexpr std::uint16_t kCommunication = 5500;
inline constexpr std::uint16_t kRuntime = 5000;
struct Name {
  std::int64_t level = 0;
  std::string_view text;
};
// In ascending order.
inline constexpr Name kNames[] = {{kRuntime, "runtime"},
                                  {kCommunication, "communication"},
                                  {kNode, "node"},
                                  {kModel, "model"},
                                  {kAcl, "acl"}};
}  // namespace call_level

// Returns the cell's value; empty for kNull.
inline std::optional<std::int64_t> given(std::int64_t cell) {
  return cell == kNull ? std::nullopt : std::optional(cell);
}

}  // namespace msprof
