// What is to be recorded, as the interface is told it: device list, metrics, bits
// (aclprofCreateConfig) and further settings (aclprofSetConfig). Rules: docs/host_cann.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/prof/host_usage.hpp"
#include "runtime/prof/rules.hpp"

namespace msprof::acl {

using runtime::absolute_path;
using runtime::is_allowed_path;
using runtime::number_in;
using runtime::ProfConfig;

// Nothing when the arguments break a rule of aclprofCreateConfig: `ids` has `count` entries, and
// `existing` devices are there.
std::optional<ProfConfig> make_prof_config(const std::uint32_t* ids, std::uint32_t count,
                                           std::uint32_t existing, std::uint32_t metrics,
                                           std::uint64_t bits);

// The chip family of the records (MSPROF_HOST_CHIP); nothing, and why, for a value that is none.
std::optional<int> host_chip(std::string& why);

// `bits` with those that they imply.
std::uint64_t with_implied_bits(std::uint64_t bits);

// The raw name of metrics ("PipeUtilization"); nothing for a number or a name that is none.
std::optional<std::string_view> metrics_name(std::uint32_t metrics);
std::optional<std::uint32_t> metrics_of_name(std::string_view name);
// Whether these are metrics, and such as the chip has.
bool are_host_metrics(std::uint32_t metrics);

// What a setting of aclprofSetConfig takes, and its name: for sentences.
struct SettingInfo {
  std::uint32_t type = 0;
  const char* name = "";
  const char* expected = "";
  std::uint64_t highest_hz = 0;  // of a frequency
};
// Null for a type that is none.
const SettingInfo* setting_info(std::uint32_t type);

// Settings of aclprofSetConfig, for the recordings that start later.
class ProfSettings {
 public:
  // ACL_ERROR_INVALID_PARAM for a type that is none, ACL_ERROR_INVALID_PROFILING_CONFIG for a value
  // outside its range, ACL_ERROR_FEATURE_UNSUPPORTED for counters of a card, which a host has not:
  // nothing is set then.
  aclError set(std::uint32_t type, std::string_view value);
  // For the load of a process other than this one.
  void set_process(pid_t process) { host_usage_.process = process; }

  std::uint64_t storage_limit_bytes() const { return storage_limit_bytes_; }
  // The folder of ACL_PROF_PATH; empty: none was set.
  const std::string& path() const { return path_; }
  const HostUsageOptions& host_usage() const { return host_usage_; }
  // Keys and values of sample.json.
  const std::vector<std::pair<std::string, std::string>>& parameters() const { return parameters_; }

 private:
  void put(std::string_view key, std::string value);

  std::uint64_t storage_limit_bytes_ = 0;
  std::string path_;
  HostUsageOptions host_usage_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

// What aclprofStart refuses before it looks at the state: ACL_SUCCESS or the code. Without bits the
// load of the host may be recorded, where `settings` ask for it.
aclError check_content(const ProfConfig& config, const ProfSettings& settings);

}  // namespace msprof::acl
