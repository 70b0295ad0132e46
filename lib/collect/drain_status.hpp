// DrainStatus: progress of the download while the application runs. See Host::drain_status().
#pragma once

#include <cstdint>
#include <optional>

namespace msprof {

struct DrainStatus {
  std::uint64_t files = 0;                  // files with downloaded data
  std::uint64_t bytes = 0;                  // downloaded and flushed locally
  std::uint64_t freed_bytes = 0;            // part of `bytes` that was freed on the board's disk
  double bytes_per_second = 0;              // growth of the raw files; 0: unknown
  std::optional<std::uint64_t> free_bytes;  // of the board's disk; empty: unknown
  std::optional<double> seconds_left;       // until full; empty: unknown, or it does not fill
  bool frees = false;                       // the board can free downloaded data
};

}  // namespace msprof
