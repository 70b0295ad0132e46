// Metrics of cores whose counters are sampled over time: formulas over the sums of all samples of a
// core. For ai_core_utilization, ai_vector_core_utilization and SAMPLE_PMU_SUMMARY.
// Source: cann_device.md 6.4, 12.3.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "derive/pmu_metrics.hpp"

namespace msprof {

// What the samples of one core add up to.
struct CoreSums {
  double cycles = 0;
  std::map<std::uint32_t, double> events;
};

// The metrics of a set, in the order of the columns: no times, as there are no tasks.
std::vector<PmuMetric> pmu_sample_set(std::string_view name, int platform);

// True if all events of a metric were counted.
bool has_events(const PmuMetric& metric, const std::map<std::uint32_t, double>& events);

// Its value; 0 where there is nothing to divide by. Bandwidth in GB/s at `frequency_hz`.
double pmu_sample_value(const PmuMetric& metric, const CoreSums& sums, double frequency_hz);

// mte2_ratio / max(mac_ratio, vec_ratio).
double memory_bound(double mte2, double mac, double vec);

}  // namespace msprof
