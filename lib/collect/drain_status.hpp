// DrainStatus: what has come home while the application still runs. For views of a run.
#pragma once

#include <cstdint>
#include <optional>

namespace msprof {

struct DrainStatus {
  std::uint64_t files = 0;                  // of which something has come
  std::uint64_t bytes = 0;                  // that have come and are flushed here
  std::uint64_t freed_bytes = 0;            // of them, those that the board's disk has back
  double bytes_per_second = 0;              // by which the raw files grow; 0: unknown
  std::optional<std::uint64_t> free_bytes;  // of the board's disk; empty: unknown
  std::optional<double> seconds_left;       // until it is full; empty: unknown, or it does not fill
  bool frees = false;                       // the board can free what has come
};

}  // namespace msprof
