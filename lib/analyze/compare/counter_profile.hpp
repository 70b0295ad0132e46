// CounterProfile: what one counter of a run came to, and CounterChange: what it moved by between
// two sides. For compare().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "store/database.hpp"

namespace msprof {

// A counter of a device or of the host over a run, in the unit that it shows. Of totals since the
// start (packets, bytes) what they rose by in a second.
struct CounterProfile {
  std::string device;    // "host"; "device", numbered from 0 where the run has several
  std::string kind;      // of its table
  std::string name;      // "HBM 0 Read"
  std::string unit;      // "MB/s"
  double mean = 0;       // each value as long as it held
  double deviation = 0;  // usual distance of the means of stretches of the run from their median
  std::int64_t samples = 0;
};

std::vector<CounterProfile> read_counters(const Database& db);

// The counters of both sides, one list a run; those that only one side has are left out. The
// largest change beyond noise first.
std::vector<CounterChange> compare_counters(
    const std::vector<const std::vector<CounterProfile>*>& base,
    const std::vector<const std::vector<CounterProfile>*>& now);

}  // namespace msprof
