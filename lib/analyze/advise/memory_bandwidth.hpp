// MemoryBandwidth computes the total memory bandwidth of a device over time, from HBM counters if
// recorded, else from DDR counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.hpp"

namespace msprof {

class MemoryBandwidth {
 public:
  explicit MemoryBandwidth(const Database& db);

  bool has_data() const { return !devices_.empty(); }

  struct Load {
    double mb_per_s = 0;       // mean over the time range
    double peak_mb_per_s = 0;  // highest in the capture; the chip's limit is unknown
  };
  // Returns the load of `device` (a number as text) in a time range; empty if no samples cover it.
  std::optional<Load> find(std::string_view device, std::int64_t begin_ns,
                           std::int64_t end_ns) const;

 private:
  // A range with a constant rate, and the amount transferred before it.
  struct Stretch {
    std::int64_t begin_ns = 0;
    double mb_per_s = 0;
    double moved_mb = 0;
  };
  struct Device {
    std::vector<Stretch> stretches;
    double peak_mb_per_s = 0;
  };
  static double moved_until(const Device& device, std::int64_t time_ns);

  std::map<std::string, Device, std::less<>> devices_;
};

}  // namespace msprof
