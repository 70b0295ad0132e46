#include "runtime/acl/prof/prof_config.hpp"

#include <stdlib.h>

#include <algorithm>
#include <array>

namespace msprof::acl {
namespace {

using runtime::kNoMetrics;

constexpr std::uint64_t kBytesPerMegabyte = 1 << 20;

constexpr std::uint64_t kApiStats = 0x4'0000'0000;
constexpr std::uint64_t kAicoreShape = 0x8'0000'0000;
constexpr std::uint64_t kTaskTimes =
    ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME_L3;
constexpr std::uint64_t kSupportedBits =
    kTaskTimes | ACL_PROF_ACL_API | ACL_PROF_AICORE_METRICS | ACL_PROF_AICPU | ACL_PROF_L2CACHE |
    ACL_PROF_HCCL_TRACE | ACL_PROF_TRAINING_TRACE | ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API |
    ACL_PROF_GE_API_L0 | ACL_PROF_TASK_MEMORY | ACL_PROF_OP_ATTR | ACL_PROF_GE_API_L1 | kApiStats |
    kAicoreShape;

// Indexed by aclprofAicoreMetrics.
constexpr std::array<std::string_view, 9> kMetrics = {
    "ArithmeticUtilization", "PipeUtilization", "Memory",  "MemoryL0",
    "ResourceConflictRatio", "MemoryUB",        "L2Cache", "PipelineExecuteUtilization",
    "MemoryAccess"};

constexpr const char* kTo50 = "1 to 50";
constexpr const char* kTo100 = "1 to 100";
constexpr const char* kCpuOrMemory = "cpu, mem or both, as provided by /proc";
constexpr std::array kSettingInfos = {
    SettingInfo{ACL_PROF_STORAGE_LIMIT, "ACL_PROF_STORAGE_LIMIT", "200MB to 4294967295MB"},
    SettingInfo{ACL_PROF_SYS_HARDWARE_MEM_FREQ, "ACL_PROF_SYS_HARDWARE_MEM_FREQ", kTo100, 100},
    SettingInfo{ACL_PROF_LLC_MODE, "ACL_PROF_LLC_MODE", "read or write"},
    SettingInfo{ACL_PROF_SYS_IO_FREQ, "ACL_PROF_SYS_IO_FREQ", kTo100, 100},
    SettingInfo{ACL_PROF_SYS_INTERCONNECTION_FREQ, "ACL_PROF_SYS_INTERCONNECTION_FREQ", kTo50, 50},
    SettingInfo{ACL_PROF_DVPP_FREQ, "ACL_PROF_DVPP_FREQ", kTo100, 100},
    SettingInfo{ACL_PROF_HOST_SYS, "ACL_PROF_HOST_SYS", kCpuOrMemory},
    SettingInfo{ACL_PROF_HOST_SYS_USAGE, "ACL_PROF_HOST_SYS_USAGE", kCpuOrMemory},
    SettingInfo{ACL_PROF_HOST_SYS_USAGE_FREQ, "ACL_PROF_HOST_SYS_USAGE_FREQ", kTo50, 50},
    SettingInfo{ACL_PROF_LOW_POWER_FREQ, "ACL_PROF_LOW_POWER_FREQ", kTo100, 100},
    SettingInfo{ACL_PROF_SYS_MEM_SERVICEFLOW, "ACL_PROF_SYS_MEM_SERVICEFLOW", "names"},
    SettingInfo{ACL_PROF_SYS_CPU_FREQ, "ACL_PROF_SYS_CPU_FREQ", kTo50, 50},
    SettingInfo{ACL_PROF_OPTYPE, "ACL_PROF_OPTYPE", "names"},
    SettingInfo{ACL_PROF_PATH, "ACL_PROF_PATH", "a path without special characters"},
};

// Parses "cpu", "mem" or both, each once.
bool read_cpu_or_memory(std::string_view list, bool& cpu, bool& memory) {
  if (list != "cpu" && list != "mem" && list != "cpu,mem" && list != "mem,cpu") return false;
  cpu = list.find("cpu") != std::string_view::npos;
  memory = list.find("mem") != std::string_view::npos;
  return true;
}

}  // namespace

std::optional<ProfConfig> make_prof_config(const std::uint32_t* ids, std::uint32_t count,
                                           std::uint32_t existing, std::uint32_t metrics,
                                           std::uint64_t bits) {
  std::optional<ProfConfig> config =
      runtime::make_config(ids, count, existing, metrics, with_implied_bits(bits));
  // Without devices, only stamps can be recorded.
  if (config && config->devices.empty() && (config->bits & ACL_PROF_MSPROFTX) == 0)
    return std::nullopt;
  return config;
}

std::optional<int> host_chip(std::string& why) {
  const char* const value = secure_getenv("MSPROF_HOST_CHIP");
  if (value == nullptr || *value == '\0') return 5;
  const std::string_view text = value;
  if (text == "5" || text == "4" || text == "1") return text[0] - '0';
  why = "MSPROF_HOST_CHIP must be 5, 4 or 1, not \"" + std::string(text.substr(0, 40)) + "\"";
  return std::nullopt;
}

std::uint64_t with_implied_bits(std::uint64_t bits) {
  if ((bits & kApiStats) != 0) return ACL_PROF_ACL_API | kApiStats;
  if ((bits & ACL_PROF_TASK_TIME_L3) != 0) bits |= kTaskTimes;
  if ((bits & (ACL_PROF_L2CACHE | ACL_PROF_OP_ATTR)) != 0) bits |= ACL_PROF_TASK_TIME;
  if ((bits & ACL_PROF_TASK_TIME) != 0) bits |= ACL_PROF_TASK_TIME_L0;
  if ((bits & kTaskTimes) != 0) bits |= ACL_PROF_TRAINING_TRACE;
  return bits;
}

aclError check_content(const ProfConfig& config, const ProfSettings& settings) {
  if (config.bits == 0 && settings.host_usage().any()) return ACL_SUCCESS;
  return runtime::check_bits(config, kSupportedBits, ACL_PROF_AICORE_METRICS,
                             are_host_metrics(config.metrics));
}

bool are_host_metrics(std::uint32_t metrics) {
  constexpr int kAscend910b = 5;
  std::string ignored;
  // Readers have no columns for these metrics on a 910B, and would drop all data of its device.
  const bool is_of_other_chip =
      metrics == ACL_AICORE_PIPE_EXECUTE_UTILIZATION && host_chip(ignored) == kAscend910b;
  return find_metrics_name(metrics).has_value() && !is_of_other_chip;
}

std::optional<std::string_view> find_metrics_name(std::uint32_t metrics) {
  if (metrics == kNoMetrics) return "";
  if (metrics >= kMetrics.size()) return std::nullopt;
  return kMetrics[metrics];
}

std::optional<std::uint32_t> find_metrics_named(std::string_view name) {
  if (name.empty()) return kNoMetrics;
  const auto found = std::find(kMetrics.begin(), kMetrics.end(), name);
  if (found == kMetrics.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kMetrics.begin());
}

void ProfSettings::put(std::string_view key, std::string value) {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  if (found != parameters_.end()) {
    found->second = std::move(value);
  } else {
    parameters_.emplace_back(key, std::move(value));
  }
}

const SettingInfo* find_setting_info(std::uint32_t type) {
  const auto found = std::find_if(kSettingInfos.begin(), kSettingInfos.end(),
                                  [&](const SettingInfo& info) { return info.type == type; });
  return found == kSettingInfos.end() ? nullptr : &*found;
}

aclError ProfSettings::set(std::uint32_t type, std::string_view value) {
  constexpr aclError kRefused = ACL_ERROR_INVALID_PROFILING_CONFIG;
  constexpr aclError kOfCard = ACL_ERROR_FEATURE_UNSUPPORTED;
  const SettingInfo* const info = find_setting_info(type);
  if (info == nullptr) return ACL_ERROR_INVALID_PARAM;
  const auto hz = parse_number(value, 1, info->highest_hz);
  if (info->highest_hz != 0 && !hz) return kRefused;
  switch (type) {
    case ACL_PROF_STORAGE_LIMIT: {
      if (!value.ends_with("MB")) return kRefused;
      const auto megabytes = parse_number(value.substr(0, value.size() - 2), 200, UINT32_MAX);
      if (!megabytes) return kRefused;
      storage_limit_bytes_ = *megabytes * kBytesPerMegabyte;
      put("storageLimit", std::string(value));
      return ACL_SUCCESS;
    }
    case ACL_PROF_HOST_SYS:
      if (!read_cpu_or_memory(value, host_usage_.samples_process_cpu,
                              host_usage_.samples_process_memory))
        return kRefused;
      put("host_sys", std::string(value));
      return ACL_SUCCESS;
    case ACL_PROF_HOST_SYS_USAGE:
      if (!read_cpu_or_memory(value, host_usage_.samples_all_cpus, host_usage_.samples_all_memory))
        return kRefused;
      put("host_sys_usage", std::string(value));
      return ACL_SUCCESS;
    case ACL_PROF_HOST_SYS_USAGE_FREQ:
      host_usage_.hz = static_cast<std::uint32_t>(*hz);
      put("host_sys_usage_interval", std::to_string(1000 / *hz));
      return ACL_SUCCESS;
    case ACL_PROF_PATH:
      if (value.empty() || !is_allowed_path(value)) return kRefused;
      path_ = absolute_path(value);
      return ACL_SUCCESS;
    case ACL_PROF_LLC_MODE:
      return value == "read" || value == "write" ? kOfCard : kRefused;
    default:
      return kOfCard;
  }
}

}  // namespace msprof::acl
