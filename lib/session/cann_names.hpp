// The names of raw files in host/data and device_N/data. For CannSession and the CANN kinds.
// Source: cann_host.md 1.2, 1.6; cann_device.md 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msprof::cann {

struct FileName {
  // What the file holds: "api_event", "task_track", "hash_dic", "stars_soc.data",
  // "DATA_PREPROCESS.AICPU", "capture_op_info.variable"; host words without class and tag.
  std::string stem;
  bool is_unaging = false;  // kept for the whole run; host files only
  std::optional<std::int64_t> device;
  std::int64_t slice = 0;
};

// Reads a name without ".done"; empty for one that is no slice of raw data.
std::optional<FileName> parse_data_name(std::string_view name);

// A companion that is never data: ".done", ".complete", ".zip".
bool is_companion(std::string_view name);

}  // namespace msprof::cann
