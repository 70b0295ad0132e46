// SampledDevice: sums of the sampled core counters of a device, and the metrics computed from them.
// For ai_core_utilization, ai_vector_core_utilization and SAMPLE_PMU_SUMMARY.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "derive/pmu_samples.hpp"
#include "export/scope/counter_samples.hpp"

namespace msprof {

inline constexpr std::string_view kSampledCores = "ai_core_utilization";
inline constexpr std::string_view kSampledVectorCores = "ai_vector_core_utilization";

struct SampledDevice {
  std::int64_t id = 0;
  double frequency_hz = 0;         // of the cores, from info.json; 0: unknown
  std::vector<PmuMetric> metrics;  // metrics whose events were counted
  std::map<std::int64_t, CoreSums> cores;
};

// Returns the devices with core samples in the scope, by number. `kind`: kind of the tracks.
std::vector<SampledDevice> sampled_devices(const Database& db, std::string_view kind,
                                           const ExportScope& scope);

// Returns the names of the metrics of all devices, without duplicates.
std::vector<std::string> sampled_metric_names(const Database& db, std::string_view kind);

// Returns the event that a track counts; empty for the cycles.
std::optional<std::uint32_t> find_sampled_event(const CounterTrack& track);

}  // namespace msprof
