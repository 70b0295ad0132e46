// Value formats shared by the options of CANN's collector and profiling_options.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

const std::vector<std::string>& core_metrics();
// Returns true for "Custom:0x49,90": at most kMaxCoreEvents event numbers from the chip's manual,
// hexadecimal or decimal.
inline constexpr std::size_t kMaxCoreEvents = 8;
inline constexpr std::string_view kCustomMetrics = "Custom:";
bool are_custom_metrics(std::string_view value);

// Returns false for a path with characters that runtimes reject because a shell might interpret
// them.
bool is_plain_path(std::string_view path);

}  // namespace msprof
