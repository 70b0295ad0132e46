// The metric sets of the cores: which metrics a set of counters gives, in the order of their
// columns, and how each is made. For PmuMetrics.
// Source: cann_device.md 12.1-12.3, 16; where its two paths differ, the native one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class PmuFormula {
  total_time,
  total_cycles,
  share,       // sum of (event / cycles)
  share_time,  // share * total_time
  quotient,    // (second event / cycles) / (first / cycles)
  bandwidth,   // sum of events * bytes / time / 2^33
  weighted,    // sum of event * factor
  count,       // the event itself, a whole number
  memory_bound,
  cube_utilization
};

inline constexpr std::size_t kMostPmuTerms = 5;

struct PmuTerm {
  std::uint32_t event = 0;
  double factor = 1;
};

struct PmuMetric {
  std::string name;  // "mac_ratio", "l2_read_bw(GB/s)", "mac_time(us)"
  PmuFormula formula = PmuFormula::share;
  std::array<PmuTerm, kMostPmuTerms> terms{};
  std::size_t term_count = 0;
  bool is_missing = false;  // the chip has the column, but never a value
};

// The metrics of the set `name` ("PipeUtilization", "Custom:0x8,0xa") on a chip; empty for a set
// that is not known.
std::vector<PmuMetric> pmu_set(std::string_view name, int platform);

// Whether op_summary of chips with two kinds of cores has this metric for vector cores
// (`is_vector`), or for cube cores; the others are left out.
bool pmu_is_supported(std::string_view metric, bool is_vector);

}  // namespace msprof
