// Formats timestamps for people: local time with its zone. JSON documents use UTC instead.
#pragma once

#include <cstdint>
#include <string>

namespace msprof {

enum class TimePrecision { minutes, seconds, milliseconds };

// Returns "2026-11-23 19:06:12 UTC+8" for `ns` since 1970, in this process's time zone ("UTC" if
// its offset is 0). Empty for a time outside the years 1970 to 9999.
std::string local_time_text(std::int64_t ns, TimePrecision precision = TimePrecision::seconds);

}  // namespace msprof
