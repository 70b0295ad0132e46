// Reads the time of a record in either layout of hbm and llc (has_later_layout): time_us counts
// from the start of the device, time_ns from 1970. Source: cann_system.md 1.6.
#pragma once

#include <cstdint>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

// Returns true if the time is plausible. Used to recognize records of formats without a magic.
template <typename Wire>
bool has_sound_time(const Wire& wire) {
  if constexpr (requires { wire.time_ns; }) {
    return wire.time_ns <= INT64_MAX;
  } else {
    return wire.time_us <= kMaxTimeUs;
  }
}

// Returns the time in ns since 1970. Requires a plausible time and a part whose start is known.
template <typename Wire>
std::int64_t record_time_ns(const CannPart& part, const Wire& wire) {
  if constexpr (requires { wire.time_ns; }) {
    return static_cast<std::int64_t>(wire.time_ns);
  } else {
    return part.start->after_start_us(wire.time_us);
  }
}

}  // namespace msprof::cann
