// The planners of `--style cann5`: a file a topic and device, in device_N/timeline and
// device_N/summary, named <topic>_<device>[_<model>_<iteration>]. For plan_summaries() and
// plan_timelines().
#pragma once

#include "export/exporter.hpp"

namespace msprof {

std::vector<ExportJob> plan_cann5_summaries(const TraceDb& store, const std::filesystem::path& base,
                                            const SummaryOptions& options);
std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const std::filesystem::path& base,
                                            const TimelineOptions& options);

}  // namespace msprof
