// SampledDevice: what the sampled counters of the cores of a device add up to, and the metrics that
// they give. For ai_core_utilization, ai_vector_core_utilization and SAMPLE_PMU_SUMMARY.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "derive/pmu_samples.hpp"
#include "export/counter_samples.hpp"

namespace msprof {

inline constexpr std::string_view kSampledCores = "ai_core_utilization";
inline constexpr std::string_view kSampledVectorCores = "ai_vector_core_utilization";

struct SampledDevice {
  std::int64_t id = 0;
  double frequency_hz = 0;         // of the cores, as info.json has it; 0: not known
  std::vector<PmuMetric> metrics;  // those whose events were counted
  std::map<std::int64_t, CoreSums> cores;
};

// Devices whose cores have samples in the scope, by number. `kind`: one of the two above.
std::vector<SampledDevice> sampled_devices(const Database& db, std::string_view kind,
                                           const ExportScope& scope);

// The metrics of all devices together, each once.
std::vector<std::string> sampled_metric_names(const Database& db, std::string_view kind);

// The event of a track; empty for that of the cycles.
std::optional<std::uint32_t> sampled_event(const CounterTrack& track);

}  // namespace msprof
