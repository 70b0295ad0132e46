// Durations of one kind of operator added up, as op_statistic and communication_statistic print
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "export/summary/cann_tables.hpp"

namespace msprof::cann {

struct Times {
  std::int64_t count = 0;
  int128 total_ns = 0;
  std::int64_t shortest_ns = INT64_MAX;
  std::int64_t longest_ns = INT64_MIN;

  void add(std::int64_t duration_ns) {
    ++count;
    total_ns += duration_ns;
    shortest_ns = std::min(shortest_ns, duration_ns);
    longest_ns = std::max(longest_ns, duration_ns);
  }
  void add(const Times& other) {
    count += other.count;
    total_ns += other.total_ns;
    shortest_ns = std::min(shortest_ns, other.shortest_ns);
    longest_ns = std::max(longest_ns, other.longest_ns);
  }
};

// What the ratios of a device's rows are parts of.
class DeviceTotals {
 public:
  void add(std::int64_t device, const Times& times) { totals_[device] += times.total_ns; }
  std::string ratio(std::int64_t device, const Times& times) const {
    const int128 whole = totals_.at(device);
    return whole == 0 ? "0" : trimmed3(times.total_ns * 100, whole);
  }

 private:
  std::map<std::int64_t, int128> totals_;
};

// The cells from Count to Ratio(%).
inline void write_times(TableWriter& out, const Times& times, const std::string& mean_us,
                        const std::string& ratio) {
  out.number(times.count);
  out.number(trimmed3(times.total_ns, 1000));
  out.number(trimmed3(times.shortest_ns, 1000));
  out.number(mean_us);
  out.number(trimmed3(times.longest_ns, 1000));
  out.number(ratio);
}

}  // namespace msprof::cann
