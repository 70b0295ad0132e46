#include "collect/cann/sample_config.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace msprof {

namespace {

using Json = nlohmann::ordered_json;
using Scope = CollectorScope;

constexpr std::string_view kMemoryFrequency = "sys-hardware-mem-freq";
// Options that are parameters of the host runtime only.
constexpr std::pair<const char*, const char*> kOfHostRuntime[] = {
    {"host-sys-usage", "host_sys_usage"},
    {"host-sys-usage-freq", "host_sys_usage_freq"},
};

// Converts --task-time to the runtime's level: "level1".
std::string prof_level(const std::string& task_time) {
  if (task_time == "on") return "level1";
  return task_time == "off" ? "off" : "level" + task_time.substr(1);
}

// Converts the value of an option to that of its parameter.
std::string parameter_value(const CollectorOption& option, std::string value) {
  if (option.name == "task-time") return value == "off" ? "off" : "on";
  if (option.name != kMemoryFrequency) return value;
  constexpr std::uint64_t kMicrosecondsPerSecond = 1'000'000;
  std::uint64_t hz = 1;
  parse_u64(value, hz);
  return std::to_string(kMicrosecondsPerSecond / hz);
}

bool asks_for_something(const CollectorSettings& settings, const CollectorOption& option) {
  return settings.is_given(option.name) && settings.value(option.name) != "off";
}

template <typename Takes>
std::vector<std::string> given_names(const CollectorSettings& settings, Takes takes) {
  std::vector<std::string> names;
  for (const CollectorOption& option : collector_options()) {
    if (asks_for_something(settings, option) && takes(option))
      names.push_back(fmt::format("--{}", option.name));
  }
  return names;
}

}  // namespace

std::string sample_config(const CollectorSettings& settings, const ApplicationWords& application,
                          const std::string& output, long collector) {
  Json config = Json::object();
  for (const CollectorOption& option : collector_options()) {
    const std::string value = settings.value(option.name);
    const bool is_of_run = option.scope == Scope::run || option.scope == Scope::offline;
    if (option.parameter.empty() || is_of_run || value.empty()) continue;
    config[std::string(option.parameter)] = parameter_value(option, value);
  }
  for (const auto& [option, parameter] : kOfHostRuntime) {
    if (settings.is_given(option)) config[parameter] = settings.value(option);
  }
  const std::string task_time = settings.value("task-time");
  // Core counters are part of the task details: without task details they are off unless requested.
  for (const char* const cores : {"ai-core", "ai-vector-core"}) {
    if ((task_time == "off" || task_time == "l0") && !settings.is_given(cores))
      config[std::string(find_collector_option(cores)->parameter)] = "off";
  }
  config["prof_level"] = prof_level(settings.value("task-time"));
  config["result_dir"] = output;
  config["app"] = application.program;
  std::string arguments;
  for (const std::string& word : application.arguments)
    arguments += (arguments.empty() ? "" : " ") + word;
  config["app_parameters"] = arguments;
  config["msprofBinPid"] = collector;
  return config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> options_without_parameter(const CollectorSettings& settings) {
  return given_names(settings, [](const CollectorOption& option) {
    const bool is_recorded = option.scope == Scope::records || option.scope == Scope::driver;
    return is_recorded && option.parameter.empty() && option.name != "model-execution";
  });
}

std::string loads_without_proc(const CollectorSettings& settings) {
  const std::string loads = settings.value("host-sys");
  std::string names;
  for (const std::string_view name : split(loads, ',')) {
    if (name.empty() || name == "cpu" || name == "mem") continue;
    names.append(names.empty() ? "" : ",").append(name);
  }
  return names;
}

std::vector<std::string> options_for_driver(const CollectorSettings& settings) {
  std::vector<std::string> names = given_names(
      settings, [](const CollectorOption& option) { return option.scope == Scope::driver; });
  for (const char* const mode : {"aic-mode", "aiv-mode"}) {
    if (settings.value(mode) == "sample-based")
      names.push_back(fmt::format("--{}=sample-based", mode));
  }
  return names;
}

}  // namespace msprof
