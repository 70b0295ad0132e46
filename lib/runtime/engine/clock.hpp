// The clock of all runtime records.
#pragma once

#include <time.h>

#include <cstdint>

namespace msprof::runtime {

// Nanoseconds of CLOCK_MONOTONIC.
inline uint64_t monotonic_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<uint64_t>(now.tv_nsec);
}

inline void sleep_a_millisecond() {
  const timespec time = {0, 1'000'000};
  nanosleep(&time, nullptr);
}

}  // namespace msprof::runtime
