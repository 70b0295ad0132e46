// The time of a record in either of the two layouts that hbm and llc have (has_later_layout): a
// member time_us, after the start of the device, or time_ns, since 1970. Source: cann_system.md
// 1.6. For the kinds of counters.
#pragma once

#include <cstdint>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

// Whether it can be a time at all: records without a mark say by it that they are none.
template <typename Wire>
bool has_sound_time(const Wire& wire) {
  if constexpr (requires { wire.time_ns; }) {
    return wire.time_ns <= INT64_MAX;
  } else {
    return wire.time_us <= kMaxTimeUs;
  }
}

// As ns since 1970, of a record whose time is sound; the start of the part must be known.
template <typename Wire>
std::int64_t time_of(const CannPart& part, const Wire& wire) {
  if constexpr (requires { wire.time_ns; }) {
    return static_cast<std::int64_t>(wire.time_ns);
  } else {
    return part.start->after_start_us(wire.time_us);
  }
}

}  // namespace msprof::cann
