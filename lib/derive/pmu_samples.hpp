// Core metrics from counters that are sampled periodically: formulas over the sums of all samples
// of a core. Used by ai_core_utilization, ai_vector_core_utilization and SAMPLE_PMU_SUMMARY.
// Source: cann_device.md 6.4, 12.3.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "derive/pmu_metrics.hpp"

namespace msprof {

// Sums of the samples of one core.
struct CoreSums {
  double cycles = 0;
  std::map<std::uint32_t, double> events;
};

// Returns the metrics of a set in column order; without times, as samples have no tasks.
std::vector<PmuMetric> pmu_sample_set(std::string_view name, int platform);

// Returns true if all events of a metric were counted.
bool has_events(const PmuMetric& metric, const std::map<std::uint32_t, double>& events);

// Returns the value of a metric; 0 if the divisor is 0. Bandwidth is in GB/s at `frequency_hz`.
double pmu_sample_value(const PmuMetric& metric, const CoreSums& sums, double frequency_hz);

// Returns mte2_ratio / max(mac_ratio, vec_ratio).
double memory_bound(double mte2, double mac, double vec);

}  // namespace msprof
