// Settings of acl.json. Its object "profiler" is the only part that matters here.
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

// Reads the file; nothing when profiling is off, and then a sentence on stderr unless it was simply
// not asked for. A wrong value switches off its own item only and is named on stderr; nothing here
// ever fails the application.
std::optional<ProfileConfig> read_profile_config(const std::string& path);

}  // namespace msprof::runtime
