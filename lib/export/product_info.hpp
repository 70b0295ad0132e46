// Properties shared by tables and timeline layers: the raw kinds they need, and their group.
// TableInfo and LayerInfo contain them.
#pragma once

#include <string_view>

namespace msprof {

// The raw kinds that a product needs: groups separated by spaces, all required; within a group, '|'
// separates alternatives.
struct RawNeeds {
  std::string_view kinds;
  bool every_run = false;  // true: every run records them; false: only runs that use the feature
                           // shown
};
inline constexpr RawNeeds kDeviceLogs = {"stars_soc|hwts|ts_track", true};
inline constexpr RawNeeds kDeviceLogsAndHost = {
    "stars_soc|hwts|ts_track task_track node_basic_info", true};

// Group of the tables and layers of system counters, most of which a run does not record.
inline constexpr std::string_view kCounterLayers = "counters";
// Groups for V6 engines other than cores, and for the runtime's own records. Missing engine data is
// never reported; missing runtime or counter data only if its raw kinds were read.
inline constexpr std::string_view kEngineLayers = "engines";
inline constexpr std::string_view kRuntimeTables = "runtime";

}  // namespace msprof
