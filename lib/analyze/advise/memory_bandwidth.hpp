// MemoryBandwidth: what all channels of a device's memory moved at a time, HBM where it has
// counters, else DDR. For the fields of rules that set operators beside it.
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
    double mb_per_s = 0;       // mean while it lasted
    double peak_mb_per_s = 0;  // highest of the capture: what the chip can do is not known
  };
  // Of a stretch of time on `device`, a number as text; empty where no sample is about it.
  std::optional<Load> of(std::string_view device, std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  // The rate from `begin_ns` on, and what was moved before it.
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
