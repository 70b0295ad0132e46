// Profiling settings: the object "profiler" of acl.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace msprof::runtime {

struct ProfileConfig {
  std::string output;  // an existing folder
  uint32_t interval = 0;
  bool aicore = false;
  bool aicpu = false;
  bool acl_api = false;
};

// Reads the file. Returns nullopt if profiling is off; prints the reason on stderr if it was
// requested. An invalid value is reported on stderr and disables only its own setting.
std::optional<ProfileConfig> read_profile_config(const std::string& path);

}  // namespace msprof::runtime
