// Cells of the common tables hold: nothing, or a number that stands for something. For whoever
// makes rows and whoever reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msprof {

// A cell without a value.
inline constexpr std::int64_t kNull = INT64_MIN;

// "None" in the 32 bits of raw records, and in products: no model, no context, no data type. The
// store has kNull for it.
inline constexpr std::uint32_t kNone32 = UINT32_MAX;

// Layers of software that a CANN call belongs to (ApiCallRow.level), as raw records number them.
// Source: cann_host.md 1.4.
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
// From the lowest up: the lowest is the first that a record may have.
inline constexpr Name kNames[] = {{kRuntime, "runtime"},
                                  {kCommunication, "communication"},
                                  {kNode, "node"},
                                  {kModel, "model"},
                                  {kAcl, "acl"}};
}  // namespace call_level

// The value of a cell that may be without one.
inline std::optional<std::int64_t> given(std::int64_t cell) {
  return cell == kNull ? std::nullopt : std::optional(cell);
}

}  // namespace msprof
