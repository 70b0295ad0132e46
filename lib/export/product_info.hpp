// Properties shared by tables and timeline layers: the raw kinds they need, their group, and their
// place in --style cann5. TableInfo and LayerInfo contain them.
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

// Where --style cann5 writes a file. Source: cann_device.md 24.
enum class Cann5Folder {
  device,   // device_N/summary, device_N/timeline: one per device
  host,     // host/summary, host/timeline: for the whole capture, as device number 64
  capture,  // timeline: one per device, with the host's calls
};

// Group of the tables and layers of system counters, most of which a run does not record.
inline constexpr std::string_view kCounterLayers = "counters";
// Groups for V6 engines other than cores, and for the runtime's own records. Missing engine data is
// never reported; missing runtime or counter data only if its raw kinds were read.
inline constexpr std::string_view kEngineLayers = "engines";
inline constexpr std::string_view kRuntimeTables = "runtime";

// Generation of the tools that have the table or layer. A capture uses, for each table and topic,
// the oldest generation that is not older than the capture.
enum class ProductAge {
  current,  // for captures of any age; includes --style cann5
  cann5,    // for captures of CANN 5 and older
  classic,  // for captures of 2019 to 2021
};

}  // namespace msprof
