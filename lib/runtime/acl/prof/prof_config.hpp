// What to record, as configured through the interface: device list, metrics, bits
// (aclprofCreateConfig) and further settings (aclprofSetConfig). Codes: acl/api/README.md.
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
using runtime::parse_number;
using runtime::ProfConfig;

// Returns nullopt if the arguments are invalid for aclprofCreateConfig. `ids` has `count` entries;
// `existing` is the number of devices.
std::optional<ProfConfig> make_prof_config(const std::uint32_t* ids, std::uint32_t count,
                                           std::uint32_t existing, std::uint32_t metrics,
                                           std::uint64_t bits);

// The chip family of the records (MSPROF_HOST_CHIP); empty, with the reason in `why`, if the value
// is invalid.
std::optional<int> host_chip(std::string& why);

// Adds implied bits.
std::uint64_t with_implied_bits(std::uint64_t bits);

// Converts metrics to and from their raw name ("PipeUtilization"); empty if unknown.
std::optional<std::string_view> find_metrics_name(std::uint32_t metrics);
std::optional<std::uint32_t> find_metrics_named(std::string_view name);
// True if the metrics are known and the chip supports them.
bool are_host_metrics(std::uint32_t metrics);

// Name and accepted values of a setting of aclprofSetConfig, for messages.
struct SettingInfo {
  std::uint32_t type = 0;
  const char* name = "";
  const char* expected = "";
  std::uint64_t highest_hz = 0;  // for frequencies
};
// Null if the type is unknown.
const SettingInfo* find_setting_info(std::uint32_t type);

// Settings of aclprofSetConfig, used by recordings that start later.
class ProfSettings {
 public:
  // On error, sets nothing and returns ACL_ERROR_INVALID_PARAM for an unknown type,
  // ACL_ERROR_INVALID_PROFILING_CONFIG for a value out of range, or ACL_ERROR_FEATURE_UNSUPPORTED
  // for counters of a card.
  aclError set(std::uint32_t type, std::string_view value);
  // Selects the process to sample instead of the current one.
  void set_process(pid_t process) { host_usage_.process = process; }

  std::uint64_t storage_limit_bytes() const { return storage_limit_bytes_; }
  // The folder set by ACL_PROF_PATH; empty if unset.
  const std::string& path() const { return path_; }
  const HostUsageOptions& host_usage() const { return host_usage_; }
  // Keys and values for sample.json.
  const std::vector<std::pair<std::string, std::string>>& parameters() const { return parameters_; }

 private:
  void put(std::string_view key, std::string value);

  std::uint64_t storage_limit_bytes_ = 0;
  std::string path_;
  HostUsageOptions host_usage_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

// Checks performed by aclprofStart before it checks the state. Returns ACL_SUCCESS or an error
// code. A configuration without bits is valid if `settings` request sampling of the host.
aclError check_content(const ProfConfig& config, const ProfSettings& settings);

}  // namespace msprof::acl
