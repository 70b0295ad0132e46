#include "runtime/acl/prof/framework_options.hpp"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

using nlohmann::json;
using runtime::say;

constexpr aclError kWrong = ACL_ERROR_INVALID_PROFILING_CONFIG;
constexpr std::size_t kMaxBytes = 2048;
constexpr std::size_t kMaxShown = 80;
constexpr const char* kDefaults =
    R"({"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on",)"
    R"("aic_metrics":"PipeUtilization","msproftx":"off"})";

// Keys with the same values in acl.json.
constexpr std::array<std::string_view, 26> kSameKeys = {"output",
                                                        "storage_limit",
                                                        "task_time",
                                                        "runtime_api",
                                                        "ge_api",
                                                        "hccl",
                                                        "aicpu",
                                                        "msproftx",
                                                        "l2",
                                                        "task_memory",
                                                        "task_tsfw",
                                                        "aic_metrics",
                                                        "instr_profiling",
                                                        "instr_profiling_freq",
                                                        "sys_hardware_mem_freq",
                                                        "sys_mem_serviceflow",
                                                        "llc_profiling",
                                                        "sys_io_sampling_freq",
                                                        "sys_interconnection_freq",
                                                        "sys_cpu_freq",
                                                        "dvpp_freq",
                                                        "host_sys",
                                                        "host_sys_usage",
                                                        "host_sys_usage_freq",
                                                        "sys_lp_freq",
                                                        "optype"};
constexpr std::string_view kOlderTaskTime = "task_trace";
// Switches without a key in acl.json. A host supports only the first one.
constexpr std::string_view kTrainingTrace = "training_trace";
constexpr std::string_view kTaskBlock = "task_block";
// Operators that mark the forward and backward pass. A host does not need them.
constexpr std::array<std::string_view, 2> kPoints = {"fp_point", "bp_point"};

std::string shown(std::string_view text) {
  return text.size() > kMaxShown ? std::string(text.substr(0, kMaxShown - 3)) + "..."
                                 : std::string(text);
}

aclError wrong(const std::string& what) {
  say("PROFILING_OPTIONS" + what);
  return kWrong;
}

aclError wrong_value(std::string_view key, const json& value, const char* expected) {
  return wrong(": \"" + std::string(key) + "\" must be " + expected + ", not " +
               shown(value.dump(-1, ' ', false, json::error_handler_t::replace)));
}

aclError take(const std::string& key, const json& value, FrameworkOptions& options) {
  if (std::find(kSameKeys.begin(), kSameKeys.end(), key) != kSameKeys.end()) {
    options.profiler[key] = value;
  } else if (key == kOlderTaskTime) {
    if (!options.profiler.contains("task_time")) options.profiler["task_time"] = value;
  } else if (key == kTrainingTrace || key == kTaskBlock) {
    if (value != "on" && value != "off") return wrong_value(key, value, "\"on\" or \"off\"");
    if (key == kTrainingTrace && value == "on") options.bits |= ACL_PROF_TRAINING_TRACE;
    if (key == kTaskBlock && value == "on")
      say("PROFILING_OPTIONS: \"task_block\" is not supported on a host: ignored");
  } else if (std::find(kPoints.begin(), kPoints.end(), key) != kPoints.end()) {
    if (!value.is_string()) return wrong_value(key, value, "the name of an operator or empty");
  } else {
    return wrong(": \"" + shown(key) + "\" is not a known key");
  }
  return ACL_SUCCESS;
}

}  // namespace

bool is_framework_mode() {
  const char* const mode = secure_getenv("PROFILING_MODE");
  return mode != nullptr && std::strcmp(mode, "true") == 0;
}

aclError read_framework_options(FrameworkOptions& options) {
  const char* const set = secure_getenv("PROFILING_OPTIONS");
  const std::string text = set != nullptr && *set != '\0' ? set : kDefaults;
  if (text.size() > kMaxBytes)
    return wrong(" has " + std::to_string(text.size()) + " bytes, the maximum is 2048");
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return wrong(" is not a JSON object");
  // By default only task times are recorded.
  options.profiler = {{"ascendcl", "off"}, {"runtime_api", "off"}};
  for (const auto& [key, value] : object.items()) {
    if (const aclError result = take(key, value, options); result != ACL_SUCCESS) return result;
  }
  if (!options.profiler.contains("output"))
    return wrong(": \"output\", the folder of the results, is missing");
  return ACL_SUCCESS;
}

}  // namespace msprof::acl
