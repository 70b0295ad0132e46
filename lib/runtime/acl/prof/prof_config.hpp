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

// `bits` with those that they imply.
std::uint64_t with_implied_bits(std::uint64_t bits);

// What aclprofStart refuses before it looks at the state: ACL_SUCCESS or the code.
aclError check_content(const ProfConfig& config);

// The raw name of metrics ("PipeUtilization"); nothing for a number or a name that is none.
std::optional<std::string_view> metrics_name(std::uint32_t metrics);
std::optional<std::uint32_t> metrics_of_name(std::string_view name);

// Settings of aclprofSetConfig, for the recordings that start later.
class ProfSettings {
 public:
  // ACL_ERROR_INVALID_PARAM for a type that is none, ACL_ERROR_INVALID_PROFILING_CONFIG for a value
  // outside its range or one that a host cannot serve.
  aclError set(std::uint32_t type, std::string_view value);

  std::uint64_t storage_limit_bytes() const { return storage_limit_bytes_; }
  // The folder of ACL_PROF_PATH; empty: none was set.
  const std::string& path() const { return path_; }
  // Keys and values of sample.json.
  const std::vector<std::pair<std::string, std::string>>& parameters() const { return parameters_; }

 private:
  void put(std::string_view key, std::string value);

  std::uint64_t storage_limit_bytes_ = 0;
  std::string path_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace msprof::acl
