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

// Reads the file. Empty if profiling is off; unless it was simply not requested, the reason is
// printed on stderr. A wrong value disables only its own setting and is reported on stderr. Never
// fails the application.
std::optional<ProfileConfig> read_profile_config(const std::string& path);

}  // namespace msprof::runtime
