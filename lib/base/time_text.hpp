// Moments as people read them: local time with its zone. JSON documents have UTC instead.
#pragma once

#include <cstdint>
#include <string>

namespace msprof {

enum class TimePrecision { minutes, seconds, milliseconds };

// "2026-11-23 19:06:12 UTC+8" of `ns` since 1970, in the time zone of this process; "UTC" where
// that is it. Empty for a time outside the years 1970 to 9999.
std::string local_time_text(std::int64_t ns, TimePrecision precision = TimePrecision::seconds);

}  // namespace msprof
