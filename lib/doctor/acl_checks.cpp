#include "doctor/acl_checks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/nearest_names.hpp"
#include "base/text.hpp"
#include "collect/acl_json.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostOutputBytes = 4096;  // PROF_PATH_MAX_LEN of the boards' runtime
constexpr int kMostShown = 60;

// Manuals and boards spell some keys differently.
const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys = {"switch",  "output",      "interval",
                                                "acl_api", "aicpu",       "aacpu",
                                                "aa cpu",  "aic_metrics", "aac_metrics"};
  return keys;
}

std::string shown(const Json& value) {
  return shorten(printable(value.dump(-1, ' ', false, Json::error_handler_t::replace)), kMostShown);
}

class AclChecks {
 public:
  AclChecks(CheckList& list, const std::string& name, const Json& profiler)
      : list_(list), name_(name), profiler_(profiler) {}

  std::string check() {
    check_switch();
    check_keys();
    check_spellings({"aicpu", "aacpu", "aa cpu"});
    check_spellings({"aic_metrics", "aac_metrics"});
    const bool cpu = check_on_off({"aicpu", "aacpu", "aa cpu"});
    const bool calls = check_on_off({"acl_api"});
    const bool core = check_metrics();
    check_interval();
    if (!core && !cpu && !calls) {
      list_.fail(
          of("items"), "nothing is left to record: aic_metrics, aicpu and acl_api are all off",
          fmt::format("\"aic_metrics\": \"{}\"", kArithmeticUtilization), Exit::partial_data);
    }
    return check_output();
  }

 private:
  std::string of(std::string_view what) const { return fmt::format("{}: {}", name_, what); }

  const Json* find(std::initializer_list<const char*> spellings) const {
    for (const char* key : spellings) {
      const auto entry = profiler_.find(key);
      if (entry != profiler_.end()) return &*entry;
    }
    return nullptr;
  }

  void check_switch() {
    const Json* value = find({"switch"});
    if (value != nullptr && *value == "on") return list_.ok(of("switch"), "on");
    list_.warn(of("switch"),
               value == nullptr
                   ? "missing: a run without msprof is not profiled"
                   : fmt::format("{}: a run without msprof is not profiled", shown(*value)),
               "\"switch\": \"on\" (msprof collect sets it in its copy)");
  }

  void check_keys() {
    std::string unknown;
    for (const auto& [key, value] : profiler_.items()) {
      const auto& known = known_keys();
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      unknown += fmt::format("{}\"{}\"{}", unknown.empty() ? "" : ", ",
                             shorten(printable(key), kMostShown), did_you_mean(key, known));
    }
    if (unknown.empty()) return list_.ok(of("keys"), "all are known");
    list_.warn(of("keys"), fmt::format("unknown, so without effect: {}", unknown),
               "known are switch, output, interval, acl_api, aicpu (or aacpu), aic_metrics (or "
               "aac_metrics)");
  }

  void check_spellings(std::initializer_list<const char*> spellings) {
    const Json* first = nullptr;
    for (const char* key : spellings) {
      const auto entry = profiler_.find(key);
      if (entry == profiler_.end()) continue;
      if (first != nullptr && *first != *entry) {
        list_.warn(of(*spellings.begin()),
                   fmt::format("two spellings disagree: {} and {} ({})", shown(*first),
                               shown(*entry), key),
                   "keep one of them");
      }
      if (first == nullptr) first = &*entry;
    }
  }

  // Whether the item is recorded.
  bool check_on_off(std::initializer_list<const char*> spellings) {
    const Json* value = find(spellings);
    if (value == nullptr || *value == "on") return true;
    const char* key = *spellings.begin();
    if (*value == "off") {
      list_.warn(of(key), "off: the run does not record it", fmt::format("\"{}\": \"on\"", key));
    } else {
      list_.warn(of(key),
                 fmt::format("{} is neither \"on\" nor \"off\", and counts as off", shown(*value)),
                 fmt::format("\"{}\": \"on\"", key));
    }
    return false;
  }

  bool check_metrics() {
    const Json* value = find({"aic_metrics", "aac_metrics"});
    const auto& names = aac_metrics_names();
    if (value != nullptr && value->is_string() &&
        std::find(names.begin(), names.end(), value->get_ref<const std::string&>()) !=
            names.end()) {
      return true;
    }
    list_.warn(of("aic_metrics"),
               value == nullptr
                   ? "missing: the core is not recorded, so no op_summary"
                   : fmt::format("{} is not known: the core is not recorded, so no op_summary",
                                 shown(*value)),
               fmt::format("\"aic_metrics\": \"{}\"", kArithmeticUtilization));
    return false;
  }

  void check_interval() {
    const Json* value = find({"interval"});
    if (value == nullptr) return;
    std::uint64_t number = 0;
    const std::string text = value->is_string() ? value->get<std::string>() : value->dump();
    if (!(value->is_string() || value->is_number_unsigned()) || !parse_u64(text, number) ||
        number > static_cast<std::uint64_t>(kMaxInterval)) {
      return list_.warn(
          of("interval"),
          fmt::format("{} is no whole number from 0 to {}", shown(*value), kMaxInterval),
          "\"interval\": \"0\"");
    }
    if (number == 0) return list_.ok(of("interval"), "0: every inference");
    list_.warn(
        of("interval"),
        fmt::format("{}: where inferences are fast, the board does not save all of them in time",
                    number),
        "\"interval\": \"0\", or a sleep after each inference");
  }

  std::string check_output() {
    const Json* value = find({"output"});
    if (value == nullptr || *value == "") {
      list_.warn(of("output"), "missing: captures go beside the executable",
                 "\"output\": \"/a/folder/that/exists\" (msprof collect sets its own)");
      return "";
    }
    if (!value->is_string() || value->get_ref<const std::string&>().size() > kMostOutputBytes) {
      list_.warn(of("output"),
                 fmt::format("no path of at most {} bytes: {}", kMostOutputBytes, shown(*value)),
                 "\"output\": \"/a/folder/that/exists\"");
      return "";
    }
    const auto& path = value->get_ref<const std::string&>();
    const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("_/.-").find(c) != std::string_view::npos;
    });
    if (!plain) {
      list_.warn(of("output"),
                 fmt::format("{} has characters that boards do not take in a path", shown(*value)),
                 "use letters, digits and '_'");
      return "";
    }
    return path;
  }

  CheckList& list_;
  const std::string& name_;
  const Json& profiler_;
};

void check_dump(CheckList& list, const std::string& name, std::string_view text) {
  const std::string of = fmt::format("{}: dump", name);
  if (!patch_acl_json(text, {}, "").dump_on) return list.ok(of, "off");
  list.fail(of, "dump is on, too: dump and profiling exclude each other",
            "switch it off in \"dump\"", Exit::partial_data);
}

}  // namespace

std::string check_acl_json(CheckList& list, const std::string& name, std::string_view text) {
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    const Json lenient = Json::parse(text, nullptr, false, true);
    if (!lenient.is_discarded()) {
      list.warn(name, "has comments, which boards refuse in JSON", "remove the comments");
      document = lenient;
    }
  }
  if (!document.is_object()) {
    list.fail(name,
              document.is_discarded() ? "is not JSON: a run with it is not profiled"
                                      : "is not a JSON object: a run with it is not profiled",
              fmt::format("python3 -m json.tool {} shows the place; without the file, msprof "
                          "collect makes a default one",
                          name),
              Exit::partial_data);
    return "";
  }
  check_dump(list, name, text);
  const auto profiler = document.find("profiler");
  if (profiler == document.end() || !profiler->is_object()) {
    list.warn(name, "has no object \"profiler\": a run without msprof is not profiled",
              R"("profiler": {"switch": "on", "output": "/a/folder"} (msprof collect adds it))");
    return "";
  }
  return AclChecks(list, name, *profiler).check();
}

void check_acl_output(CheckList& list, const std::string& name, const std::string& output) {
  const std::string of = fmt::format("{}: output", name);
  std::error_code error;
  if (!fs::is_directory(output, error)) {
    return list.warn(of,
                     fmt::format("{} is no folder here: captures go beside the executable", output),
                     fmt::format("mkdir -p {} (msprof collect uses a folder of its own)", output));
  }
  if (::access(output.c_str(), W_OK | X_OK) != 0) {
    return list.warn(
        of, fmt::format("{} cannot be written", output),
        fmt::format("chmod u+rwx {} (msprof collect uses a folder of its own)", output));
  }
  list.ok(of, fmt::format("{} can be written", output));
}

}  // namespace msprof
