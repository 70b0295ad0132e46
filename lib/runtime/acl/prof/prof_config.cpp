#include "runtime/acl/prof/prof_config.hpp"

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

// By number of aclprofAicoreMetrics.
constexpr std::array<std::string_view, 9> kMetrics = {
    "ArithmeticUtilization", "PipeUtilization", "Memory",  "MemoryL0",
    "ResourceConflictRatio", "MemoryUB",        "L2Cache", "PipelineExecuteUtilization",
    "MemoryAccess"};

// A setting that is a frequency in Hz, and what it is in sample.json: a switch, and the interval in
// `per_second`ths of a second.
struct FrequencySetting {
  std::uint32_t type;
  std::uint64_t highest_hz;
  std::string_view switch_key;
  std::string_view interval_key;
  std::uint64_t per_second;
};
constexpr std::array kFrequencies = {
    FrequencySetting{ACL_PROF_SYS_HARDWARE_MEM_FREQ, 100, "hardware_mem",
                     "hardware_mem_sampling_interval", 1'000'000},
    FrequencySetting{ACL_PROF_SYS_IO_FREQ, 100, "io_profiling", "io_sampling_interval", 1000},
    FrequencySetting{ACL_PROF_SYS_INTERCONNECTION_FREQ, 50, "interconnection_profiling",
                     "interconnection_sampling_interval", 1000},
    FrequencySetting{ACL_PROF_DVPP_FREQ, 100, "dvpp_profiling", "dvpp_sampling_interval", 1000},
    FrequencySetting{ACL_PROF_LOW_POWER_FREQ, 100, "sysLp", "sysLpFreq", 1'000'000},
    FrequencySetting{ACL_PROF_SYS_CPU_FREQ, 50, "cpu_profiling", "cpu_sampling_interval", 1000},
    FrequencySetting{ACL_PROF_HOST_SYS_USAGE_FREQ, 50, "", "host_sys_usage_interval", 1000},
};

// "cpu", "mem" or both, each once.
bool names_cpu_or_memory(std::string_view list) {
  return list == "cpu" || list == "mem" || list == "cpu,mem" || list == "mem,cpu";
}

}  // namespace

std::optional<ProfConfig> make_prof_config(const std::uint32_t* ids, std::uint32_t count,
                                           std::uint32_t existing, std::uint32_t metrics,
                                           std::uint64_t bits) {
  std::optional<ProfConfig> config =
      runtime::make_config(ids, count, existing, metrics, with_implied_bits(bits));
  // Stamps alone are of the host.
  if (config && config->devices.empty() && (config->bits & ACL_PROF_MSPROFTX) == 0)
    return std::nullopt;
  return config;
}

std::uint64_t with_implied_bits(std::uint64_t bits) {
  if ((bits & kApiStats) != 0) return bits & (ACL_PROF_ACL_API | kApiStats);
  if ((bits & ACL_PROF_TASK_TIME_L3) != 0) bits |= kTaskTimes;
  if ((bits & (ACL_PROF_L2CACHE | ACL_PROF_OP_ATTR)) != 0) bits |= ACL_PROF_TASK_TIME;
  if ((bits & ACL_PROF_TASK_TIME) != 0) bits |= ACL_PROF_TASK_TIME_L0;
  if ((bits & kTaskTimes) != 0) bits |= ACL_PROF_TRAINING_TRACE;
  return bits;
}

aclError check_content(const ProfConfig& config) {
  return runtime::check_bits(config, kSupportedBits, ACL_PROF_AICORE_METRICS,
                             metrics_name(config.metrics).has_value());
}

std::optional<std::string_view> metrics_name(std::uint32_t metrics) {
  if (metrics == kNoMetrics) return "";
  if (metrics >= kMetrics.size()) return std::nullopt;
  return kMetrics[metrics];
}

std::optional<std::uint32_t> metrics_of_name(std::string_view name) {
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

aclError ProfSettings::set(std::uint32_t type, std::string_view value) {
  constexpr aclError kRefused = ACL_ERROR_INVALID_PROFILING_CONFIG;
  for (const FrequencySetting& setting : kFrequencies) {
    if (setting.type != type) continue;
    const auto hz = number_in(value, 1, setting.highest_hz);
    if (!hz) return kRefused;
    if (!setting.switch_key.empty()) put(setting.switch_key, "on");
    put(setting.interval_key, std::to_string(setting.per_second / *hz));
    return ACL_SUCCESS;
  }
  switch (type) {
    case ACL_PROF_STORAGE_LIMIT: {
      if (!value.ends_with("MB")) return kRefused;
      const auto megabytes = number_in(value.substr(0, value.size() - 2), 200, UINT32_MAX);
      if (!megabytes) return kRefused;
      storage_limit_bytes_ = *megabytes * kBytesPerMegabyte;
      put("storageLimit", std::string(value));
      return ACL_SUCCESS;
    }
    case ACL_PROF_LLC_MODE:
      if (value != "read" && value != "write") return kRefused;
      put("llc_profiling", std::string(value));
      return ACL_SUCCESS;
    case ACL_PROF_HOST_SYS:
      // Disk, network and calls of the system need tools of root that this runtime does not start.
      if (!names_cpu_or_memory(value)) return kRefused;
      put("host_sys", std::string(value));
      return ACL_SUCCESS;
    case ACL_PROF_HOST_SYS_USAGE:
      if (!names_cpu_or_memory(value)) return kRefused;
      put("host_sys_usage", std::string(value));
      return ACL_SUCCESS;
    case ACL_PROF_PATH:
      if (value.empty() || !is_allowed_path(value)) return kRefused;
      path_ = absolute_path(value);
      return ACL_SUCCESS;
    case ACL_PROF_SYS_MEM_SERVICEFLOW:
    case ACL_PROF_OPTYPE:
      return kRefused;
    default:
      return ACL_ERROR_INVALID_PARAM;
  }
}

}  // namespace msprof::acl
