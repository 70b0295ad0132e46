// Checksums of ranges as the tools of boards print them, to hold bytes here against those there.
// For the drain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof {

enum class SumTool { none, cksum, sha256sum };

// "cksum", "sha256sum"; anything else is none.
SumTool sum_tool(std::string_view name);

// The first word that `tool` prints for these bytes on its stdin.
std::string range_sum(SumTool tool, std::string_view bytes);

}  // namespace msprof
