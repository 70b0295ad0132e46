// CounterProfile summarizes one counter of a run. compare_counters() compares those of two sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "store/database.hpp"

namespace msprof {

// A counter of a device or the host over a run, in its displayed unit. Totals since the start
// (packets, bytes) are converted to rates per second.
struct CounterProfile {
  std::string device;    // "host"; "device", or "device 0" and so on if the run has several
  std::string kind;      // of its table
  std::string name;      // "HBM 0 Read"
  std::string unit;      // "MB/s"
  double mean = 0;       // time-weighted
  double deviation = 0;  // median deviation of the means of parts of the run
  std::int64_t samples = 0;
};

std::vector<CounterProfile> read_counters(const Database& db);

// Compares counters that exist on both sides; each side has one list per run. Changes beyond noise
// come first; then sorted by relative change, largest first.
std::vector<CounterChange> compare_counters(
    const std::vector<const std::vector<CounterProfile>*>& base,
    const std::vector<const std::vector<CounterProfile>*>& now);

}  // namespace msprof
