// Forms of values that the options of CANN's collector and profiling_options share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// The sets of counters of a core.
const std::vector<std::string>& core_metrics();
// True for "Custom:0x49,90": events of the chip's manual, hexadecimal or decimal, at most
// kMaxCoreEvents.
inline constexpr std::size_t kMaxCoreEvents = 8;
inline constexpr std::string_view kCustomMetrics = "Custom:";
bool are_custom_metrics(std::string_view value);

// False for a path with characters that runtimes refuse: a shell might take them for something
// else.
bool is_plain_path(std::string_view path);

}  // namespace msprof
