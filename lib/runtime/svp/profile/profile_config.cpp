#include "runtime/svp/profile/profile_config.hpp"

#include <limits.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::runtime {
namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxOutputBytes = 4096;
constexpr uint32_t kMaxInterval = 9999;
constexpr const char* kMetrics = "ArithmeticUtilization";
constexpr const char* kNone = "none";

// Returns the value of the first of `keys` that exists. Keys have two spellings because manuals and
// boards differ; conflicting values are reported.
const nlohmann::json* find(const nlohmann::json& profiler,
                           std::initializer_list<const char*> keys) {
  const nlohmann::json* value = nullptr;
  const char* taken = nullptr;
  for (const char* key : keys) {
    const auto it = profiler.find(key);
    if (it == profiler.end()) continue;
    if (value == nullptr) {
      value = &*it;
      taken = key;
    } else if (*it != *value) {
      say(std::string("acl.json: \"") + taken + "\" and \"" + key + "\" disagree: \"" + taken +
          "\" counts");
    }
  }
  return value;
}

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

bool read_switch(const nlohmann::json& profiler, std::initializer_list<const char*> keys) {
  const nlohmann::json* value = find(profiler, keys);
  if (value == nullptr || *value == "on") return true;
  if (*value != "off") {
    say(std::string("acl.json: \"") + *keys.begin() + "\" must be \"on\" or \"off\", not " +
        shown(*value) + ": it is switched off");
  }
  return false;
}

bool read_metrics(const nlohmann::json& profiler) {
  const nlohmann::json* value = find(profiler, {"aic_metrics", "aac_metrics"});
  if (value == nullptr || *value == kNone) return false;
  if (*value == kMetrics) return true;
  say(std::string("acl.json: \"aic_metrics\" must be \"") + kMetrics + "\" or \"" + kNone +
      "\", not " + shown(*value) + ": the core is not profiled");
  return false;
}

uint32_t read_interval(const nlohmann::json& profiler) {
  const nlohmann::json* value = find(profiler, {"interval"});
  if (value == nullptr) return 0;
  std::string digits;
  if (value->is_string()) digits = value->get<std::string>();
  if (value->is_number_unsigned()) digits = value->dump();
  const bool number =
      !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
  // Nine digits fit in a uint32. Longer numbers are above the limit or have leading zeros; both are
  // rejected.
  if (number && digits.size() <= 9 && std::stoul(digits) <= kMaxInterval) {
    return static_cast<uint32_t>(std::stoul(digits));
  }
  say("acl.json: \"interval\" must be an integer from 0 to 9999, not " + shown(*value) +
      ": 0 is taken");
  return 0;
}

std::string read_output(const nlohmann::json& profiler) {
  const nlohmann::json* value = find(profiler, {"output"});
  std::string problem;
  if (value == nullptr || *value == "") {
    problem = "acl.json: no \"output\" folder is given";
  } else if (!value->is_string() || value->get_ref<const std::string&>().size() > kMaxOutputBytes ||
             value->get_ref<const std::string&>().find('\0') != std::string::npos) {
    problem = "acl.json: \"output\" must be a path of at most 4096 bytes";
  } else {
    const auto& path = value->get_ref<const std::string&>();
    struct stat info = {};
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return path;
    problem = "acl.json: the output folder " + path + " does not exist";
  }
  std::string folder = executable_folder();
  say(problem + "; the profile is written to the executable's folder " + folder);
  return folder;
}

}  // namespace

std::optional<ProfileConfig> read_profile_config(const std::string& path) {
  const std::optional<std::string> text = read_whole_file(path, kMaxConfigBytes);
  if (!text) {
    const char* const why = errno == EFBIG ? "it is larger than 1 MiB" : strerror(errno);
    say(path + " cannot be read (" + why + "): no profiling");
    return std::nullopt;
  }
  const nlohmann::json document = nlohmann::json::parse(*text, nullptr, false);
  if (document.is_discarded() || !document.is_object()) {
    say(path + " is not a JSON object: no profiling");
    return std::nullopt;
  }
  const auto profiler = document.find("profiler");
  if (profiler == document.end()) return std::nullopt;
  if (!profiler->is_object()) {
    say(path + ": \"profiler\" is not a JSON object: no profiling");
    return std::nullopt;
  }
  const nlohmann::json* wanted = find(*profiler, {"switch"});
  if (wanted == nullptr || *wanted != "on") return std::nullopt;

  ProfileConfig config;
  config.aicore = read_metrics(*profiler);
  config.aicpu = read_switch(*profiler, {"aicpu", "aacpu", "aa cpu"});
  config.acl_api = read_switch(*profiler, {"acl_api"});
  config.interval = read_interval(*profiler);
  if (!config.aicore && !config.aicpu && !config.acl_api) {
    say(path + ": all items are switched off: no profile is written");
    return std::nullopt;
  }
  config.output = read_output(*profiler);
  return config;
}

}  // namespace msprof::runtime
