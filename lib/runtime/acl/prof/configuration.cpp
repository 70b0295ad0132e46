#include "runtime/acl/prof/configuration.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "runtime/acl/prof/framework_options.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

using nlohmann::json;
using runtime::say;

constexpr std::size_t kMaxFileBytes = std::size_t{10} * 1024 * 1024;
constexpr std::uint64_t kMaxSeconds = UINT32_MAX;
constexpr mode_t kFileMode = 0640;
constexpr aclError kWrongValue = ACL_ERROR_INVALID_PROFILING_CONFIG;

// The name of a key in acl.json and in PROFILER_SAMPLECONFIG (written by collectors); empty: not
// supported there.
struct ConfigurationKey {
  const char* acl_json;
  const char* collector;
};

constexpr ConfigurationKey kSwitch{"switch", ""};
constexpr ConfigurationKey kOutputKey{"output", "result_dir"};
constexpr ConfigurationKey kMetricsKey{"aic_metrics", "ai_core_metrics"};
constexpr ConfigurationKey kTaskTime{"task_time", "taskTime"};
constexpr ConfigurationKey kGeApi{"ge_api", "geApi"};

// On/off keys and their bits.
struct SwitchKey {
  ConfigurationKey key;
  std::uint64_t bits;
  bool is_on_by_default;
};
constexpr std::array kSwitches = {
    SwitchKey{{"ascendcl", "acl"}, ACL_PROF_ACL_API, true},
    SwitchKey{{"runtime_api", "runtimeApi"}, ACL_PROF_RUNTIME_API, true},
    SwitchKey{{"aicpu", "aicpuTrace"}, ACL_PROF_AICPU, false},
    SwitchKey{{"l2", "l2CacheTaskProfiling"}, ACL_PROF_L2CACHE, false},
    SwitchKey{{"hccl", "hcclTrace"}, ACL_PROF_HCCL_TRACE, false},
    SwitchKey{{"msproftx", "msproftx"}, ACL_PROF_MSPROFTX, false},
    SwitchKey{{"task_memory", "taskMemory"}, ACL_PROF_TASK_MEMORY, false},
    SwitchKey{{"task_tsfw", "taskTsfw"}, 0, false},
    SwitchKey{{"instr_profiling", "instrProfiling"}, 0, false},
};

// Keys whose values can also be set by aclprofSetConfig. Collectors use other units for
// frequencies.
struct SettingKey {
  ConfigurationKey key;
  std::uint32_t type;
};
constexpr std::array kSettings = {
    SettingKey{{"storage_limit", "storageLimit"}, ACL_PROF_STORAGE_LIMIT},
    SettingKey{{"sys_hardware_mem_freq", ""}, ACL_PROF_SYS_HARDWARE_MEM_FREQ},
    SettingKey{{"llc_profiling", ""}, ACL_PROF_LLC_MODE},
    SettingKey{{"sys_io_sampling_freq", ""}, ACL_PROF_SYS_IO_FREQ},
    SettingKey{{"sys_interconnection_freq", ""}, ACL_PROF_SYS_INTERCONNECTION_FREQ},
    SettingKey{{"dvpp_freq", ""}, ACL_PROF_DVPP_FREQ},
    SettingKey{{"host_sys", "host_sys"}, ACL_PROF_HOST_SYS},
    SettingKey{{"host_sys_usage", "host_sys_usage"}, ACL_PROF_HOST_SYS_USAGE},
    SettingKey{{"host_sys_usage_freq", "host_sys_usage_freq"}, ACL_PROF_HOST_SYS_USAGE_FREQ},
    SettingKey{{"sys_lp_freq", ""}, ACL_PROF_LOW_POWER_FREQ},
    SettingKey{{"sys_cpu_freq", ""}, ACL_PROF_SYS_CPU_FREQ},
    SettingKey{{"sys_mem_serviceflow", ""}, ACL_PROF_SYS_MEM_SERVICEFLOW},
    SettingKey{{"optype", ""}, ACL_PROF_OPTYPE},
};

// A key of acl.json for a feature that a host does not have.
constexpr const char* kInstructions = "instr_profiling_freq";

// The JSON object that configures profiling, and its name in messages.
class Settings {
 public:
  // Errors are printed on stderr, or stored in `why` if not null.
  Settings(const json& object, std::string name, bool of_collector, std::string* why = nullptr)
      : object_(object), name_(std::move(name)), is_of_collector_(of_collector), why_(why) {}

  void print_message(const std::string& sentence) const {
    if (why_ == nullptr) {
      say(sentence);
    } else {
      *why_ = sentence;
    }
  }

  // Returns the value as text; empty if the key is missing. In a collector's object it may have
  // either name.
  std::optional<std::string> text(ConfigurationKey key) const {
    const json* value = nullptr;
    if (is_of_collector_ && *key.collector != '\0') value = find(key.collector);
    if (value == nullptr && *key.acl_json != '\0') value = find(key.acl_json);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    if (value->is_boolean()) return value->get<bool>() ? "on" : "off";
    return value->dump(-1, ' ', false, json::error_handler_t::replace);
  }

  bool is_of_collector() const { return is_of_collector_; }

  aclError wrong(ConfigurationKey key, const std::string& value, std::string_view expected) const {
    std::string shown = value.size() > 80 ? value.substr(0, 77) + "..." : value;
    print_message(name_ + ": \"" + key.acl_json + "\" must be " + std::string(expected) +
                  ", not \"" + shown + "\"");
    return kWrongValue;
  }

  aclError check_keys() const {
    for (const auto& [key, value] : object_.items()) {
      if (is_known(key)) continue;
      say(name_ + ": \"" + key + "\" is not a key of \"profiler\"");
      return ACL_ERROR_INVALID_PARAM;
    }
    return ACL_SUCCESS;
  }

  const std::string& name() const { return name_; }

 private:
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  static bool is_known(const std::string& key) {
    const auto is_it = [&](const auto& entry) { return key == entry.key.acl_json; };
    for (const ConfigurationKey& single : {kSwitch, kOutputKey, kMetricsKey, kTaskTime, kGeApi})
      if (key == single.acl_json) return true;
    return std::any_of(kSwitches.begin(), kSwitches.end(), is_it) ||
           std::any_of(kSettings.begin(), kSettings.end(), is_it) || key == kInstructions;
  }

  const json& object_;
  const std::string name_;
  const bool is_of_collector_;
  std::string* const why_;
};

void ignore(const Settings& settings, const char* key) {
  say(settings.name() + ": \"" + key +
      "\" requires counters of a card, which a host does not have: ignored");
}

aclError read_switches(const Settings& settings, std::uint64_t& bits) {
  for (const SwitchKey& entry : kSwitches) {
    const std::string value =
        settings.text(entry.key).value_or(entry.is_on_by_default ? "on" : "off");
    if (value == "on") {
      bits |= entry.bits;
      if (entry.bits == 0 && !settings.is_of_collector()) ignore(settings, entry.key.acl_json);
    } else if (value != "off" && !value.empty()) {
      return settings.wrong(entry.key, value, "\"on\" or \"off\"");
    }
  }
  return ACL_SUCCESS;
}

aclError read_levels(const Settings& settings, std::uint64_t& bits) {
  const std::string time = settings.text(kTaskTime).value_or("on");
  // Collectors have separate keys for the level and the switch.
  const std::string level = settings.text({"", "prof_level"}).value_or("");
  const bool leveled = settings.is_of_collector() && level.starts_with("level") && time != "off";
  const std::string wanted = leveled ? "l" + level.substr(5) : time;
  if (wanted == "on" || wanted == "l1") {
    bits |= ACL_PROF_TASK_TIME;
  } else if (wanted == "l0") {
    bits |= ACL_PROF_TASK_TIME_L0;
  } else if (wanted == "l2") {
    bits |= ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L2;
  } else if (wanted == "l3") {
    bits |= ACL_PROF_TASK_TIME_L3;
  } else if (wanted != "off" && !wanted.empty()) {
    return settings.wrong(kTaskTime, wanted, "\"on\", \"off\", \"l0\", \"l1\", \"l2\" or \"l3\"");
  }
  const std::string ge = settings.text(kGeApi).value_or("off");
  if (ge == "l0" || ge == "l1") {
    bits |= ACL_PROF_GE_API_L0;
    if (ge == "l1") bits |= ACL_PROF_GE_API_L1;
  } else if (ge != "off" && !ge.empty()) {
    return settings.wrong(kGeApi, ge, "\"off\", \"l0\" or \"l1\"");
  }
  return ACL_SUCCESS;
}

aclError read_metrics(const Settings& settings, ProfConfig& config) {
  const std::string name = settings.text(kMetricsKey).value_or("");
  if (settings.is_of_collector() && settings.text({"", "ai_core_profiling"}) == "off")
    return ACL_SUCCESS;
  const auto metrics = find_metrics_named(name);
  if (!metrics || !are_host_metrics(*metrics)) {
    return settings.wrong(kMetricsKey, name,
                          name.starts_with("Custom:")
                              ? "the name of one of the nine metrics on a host, which has no "
                                "events of a card"
                              : "the name of metrics that the chip has");
  }
  config.metrics = *metrics;
  if (!name.empty()) config.bits |= ACL_PROF_AICORE_METRICS;
  return ACL_SUCCESS;
}

aclError read_settings(const Settings& settings, ProfSettings& out) {
  for (const SettingKey& entry : kSettings) {
    if (settings.is_of_collector() && *entry.key.collector == '\0') continue;
    const auto value = settings.text(entry.key);
    if (!value) continue;
    // Some collectors send "on" or "off" for keys that hold a list of names here.
    const bool is_switch = settings.is_of_collector() && (*value == "on" || *value == "off");
    if (value->empty() || is_switch) continue;
    switch (out.set(entry.type, *value)) {
      case ACL_SUCCESS:
        break;
      case ACL_ERROR_FEATURE_UNSUPPORTED:
        ignore(settings, entry.key.acl_json);
        break;
      default:
        return settings.wrong(entry.key, *value, find_setting_info(entry.type)->expected);
    }
  }
  if (!settings.is_of_collector() && settings.text({kInstructions, ""}))
    ignore(settings, kInstructions);
  const auto process = parse_number(settings.text({"", "host_sys_pid"}).value_or(""), 1, INT32_MAX);
  if (process) out.set_process(static_cast<pid_t>(*process));
  return ACL_SUCCESS;
}

// Reads comma-separated device numbers; 64 is the host. Any other text selects all devices.
aclError read_devices(const Settings& settings, std::uint32_t existing, ProfConfig& config) {
  std::string list = settings.text({"", "devices"}).value_or("");
  config.devices.clear();
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const auto id = parse_number(std::string_view(list).substr(begin, end - begin), 0, 64);
    if (id && *id < existing) config.devices.push_back(static_cast<std::uint16_t>(*id));
    begin = end + 1;
  }
  std::sort(config.devices.begin(), config.devices.end());
  config.devices.erase(std::unique(config.devices.begin(), config.devices.end()),
                       config.devices.end());
  if (!config.devices.empty()) return ACL_SUCCESS;
  for (std::uint32_t id = 0; id < existing; ++id)
    config.devices.push_back(static_cast<std::uint16_t>(id));
  return ACL_SUCCESS;
}

aclError read_times(const Settings& settings, Configuration& out) {
  const struct {
    ConfigurationKey key;
    std::uint64_t& seconds;
  } times[] = {{{"delay", "delayTime"}, out.delay_s},
               {{"duration", "durationTime"}, out.duration_s}};
  for (const auto& time : times) {
    const auto value = settings.text(time.key);
    if (!value || value->empty()) continue;
    const auto seconds = parse_number(*value, 0, kMaxSeconds);
    if (!seconds) return settings.wrong(time.key, *value, "seconds");
    time.seconds = *seconds;
  }
  return ACL_SUCCESS;
}

aclError read_output(const Settings& settings, std::string& output) {
  const std::string path = settings.text(kOutputKey).value_or("");
  if (path.size() >= PATH_MAX || !is_allowed_path(path))
    return settings.wrong(kOutputKey, path, "a path without special characters");
  if (!path.empty()) {
    output = absolute_path(path);
    return ACL_SUCCESS;
  }
  const char* const work = secure_getenv("ASCEND_WORK_PATH");
  output = work != nullptr && *work != '\0' ? absolute_path(work) + "/profiling_data"
                                            : runtime::executable_folder();
  return ACL_SUCCESS;
}

aclError read_object(const Settings& settings, std::uint32_t devices, Configuration& out) {
  aclError result = read_switches(settings, out.config.bits);
  if (result == ACL_SUCCESS) result = read_levels(settings, out.config.bits);
  if (result == ACL_SUCCESS) result = read_metrics(settings, out.config);
  if (result == ACL_SUCCESS) result = read_settings(settings, out.settings);
  if (result == ACL_SUCCESS) result = read_devices(settings, devices, out.config);
  if (result == ACL_SUCCESS) result = read_output(settings, out.output);
  if (result != ACL_SUCCESS) return result;
  out.config.bits = with_implied_bits(out.config.bits);
  out.wanted = out.config.bits != 0 || out.settings.host_usage().any();
  if (!out.wanted)
    settings.print_message(settings.name() + ": everything is switched off: nothing is recorded");
  return ACL_SUCCESS;
}

aclError read_sample_config(const char* text, std::uint32_t devices, Configuration& out) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) {
    say("PROFILER_SAMPLECONFIG is not a JSON object");
    return kWrongValue;
  }
  const Settings settings(object, "PROFILER_SAMPLECONFIG", true);
  const std::string pid = settings.text({"", "msprofBinPid"}).value_or("");
  out.collector = parse_number(pid, 1, INT32_MAX) ? pid : std::to_string(getpid());
  const char* const mode = secure_getenv("PROFILING_MODE");
  if (mode != nullptr && std::strcmp(mode, "delay_or_duration") == 0) {
    if (const aclError result = read_times(settings, out); result != ACL_SUCCESS) return result;
  }
  return read_object(settings, devices, out);
}

// Sets `decides` if the file has an object "profiler", even if it is switched off.
aclError read_acl_json(const std::string& path, std::uint32_t devices, Configuration& out,
                       bool& decides) {
  const auto text = runtime::read_whole_file(path, kMaxFileBytes);
  if (!text) {
    say(path + " cannot be read: " + strerror(errno));
    return ACL_ERROR_INVALID_FILE;
  }
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) return ACL_SUCCESS;
  const json document = json::parse(*text, nullptr, false);
  if (!document.is_object()) {
    say(path + " is not a JSON object");
    return ACL_ERROR_PARSE_FILE;
  }
  const auto profiler = document.find("profiler");
  if (profiler == document.end()) return ACL_SUCCESS;
  if (!profiler->is_object()) {
    say(path + ": \"profiler\" is not a JSON object");
    return ACL_ERROR_PARSE_FILE;
  }
  const Settings settings(*profiler, path, false);
  if (const aclError result = settings.check_keys(); result != ACL_SUCCESS) return result;
  const std::string wanted = settings.text(kSwitch).value_or("off");
  if (wanted != "on" && wanted != "off")
    return settings.wrong(kSwitch, wanted, "\"on\" or \"off\"");
  decides = true;
  if (wanted == "off" && is_framework_mode())
    say(path + ": \"profiler\" is switched off and overrides PROFILING_MODE: nothing is recorded");
  return wanted == "on" ? read_object(settings, devices, out) : ACL_SUCCESS;
}

aclError read_framework(std::uint32_t devices, Configuration& out) {
  FrameworkOptions options;
  if (const aclError result = read_framework_options(options); result != ACL_SUCCESS) return result;
  out.config.bits |= options.bits;
  return read_object(Settings(options.profiler, "PROFILING_OPTIONS", false), devices, out);
}

}  // namespace

bool has_collector() {
  const char* const sample = secure_getenv("PROFILER_SAMPLECONFIG");
  return sample != nullptr && *sample != '\0';
}

bool is_dynamic_mode() {
  const char* const mode = secure_getenv("PROFILING_MODE");
  return mode != nullptr && std::strcmp(mode, "dynamic") == 0;
}

aclError read_collector_config(const std::string& text, std::uint32_t devices,
                               Configuration& configuration, std::string& why) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) {
    why = "config is not a JSON object";
    return kWrongValue;
  }
  return read_object(Settings(object, "config", true, &why), devices, configuration);
}

aclError read_configuration(const char* acl_json_path, std::uint32_t devices,
                            Configuration& configuration) {
  configuration.is_dynamic = is_dynamic_mode();
  if (has_collector())
    return read_sample_config(secure_getenv("PROFILER_SAMPLECONFIG"), devices, configuration);
  // MSPROF_ACL_JSON overrides the application's file.
  const char* const replacement = secure_getenv("MSPROF_ACL_JSON");
  const char* const path =
      replacement != nullptr && *replacement != '\0' ? replacement : acl_json_path;
  bool decided = false;
  if (path != nullptr && *path != '\0') {
    const aclError result = read_acl_json(path, devices, configuration, decided);
    if (result != ACL_SUCCESS) return result;
  }
  return decided || !is_framework_mode() ? ACL_SUCCESS : read_framework(devices, configuration);
}

void tell_collector(const Configuration& configuration, const std::string& folder) {
  if (configuration.collector.empty()) return;
  const std::string path =
      configuration.output + "/" + configuration.collector + "_profiling_output_record";
  const std::string line = folder.substr(folder.rfind('/') + 1) + "\n";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
  const bool written =
      fd >= 0 && write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written) say(path + " cannot be written: " + strerror(errno));
  if (fd >= 0) close(fd);
}

}  // namespace msprof::acl
