#include "doctor/acl_checks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/acl_json.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxOutputBytes = 4096;  // PROF_PATH_MAX_LEN of the boards' runtime
constexpr int kMaxShownValue = 60;

constexpr const char* kLeftAlone = "aa cpu";  // ignored by collect if the other spellings are
                                              // present

// Manuals and boards differ in the spelling of some keys.
const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> keys = {"switch",  "output",      "interval",
                                                "acl_api", "aicpu",       "aacpu",
                                                "aa cpu",  "aic_metrics", "aac_metrics"};
  return keys;
}

std::string shown_value(const Json& value) {
  return shorten(printable(value.dump(-1, ' ', false, Json::error_handler_t::replace)),
                 kMaxShownValue);
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
    check_on_off({"aicpu", "aacpu", "aa cpu"});
    check_on_off({"acl_api"});
    check_metrics();
    check_interval();
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

  // Reports a value that msprof collect replaces in its copy of the file: it matters only for runs
  // without msprof.
  void is_set_by_collect(std::string_view key, const Json* value, std::string_view becomes,
                         std::string_view otherwise) {
    list_.ok(of(key),
             fmt::format("{}; msprof collect sets {} in its copy, a run without msprof {}",
                         value == nullptr ? "missing" : shown_value(*value), becomes, otherwise));
  }

  void check_switch() {
    const Json* value = find({"switch"});
    if (value != nullptr && *value == "on") return list_.ok(of("switch"), "on");
    is_set_by_collect("switch", value, "on", "is not profiled");
  }

  void check_keys() {
    std::string unknown;
    for (const auto& [key, value] : profiler_.items()) {
      const auto& known = known_keys();
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      unknown += fmt::format("{}\"{}\"{}", unknown.empty() ? "" : ", ",
                             shorten(printable(key), kMaxShownValue), did_you_mean(key, known));
    }
    if (unknown.empty()) return list_.ok(of("keys"), "all keys are known");
    list_.warn(of("keys"), fmt::format("unknown keys without effect: {}", unknown),
               "the known keys are switch, output, interval, acl_api, aicpu (or aacpu), "
               "aic_metrics (or aac_metrics)");
  }

  void check_spellings(std::initializer_list<const char*> spellings) {
    const Json* first = nullptr;
    for (const char* key : spellings) {
      const auto entry = profiler_.find(key);
      if (entry == profiler_.end()) continue;
      if (first != nullptr && *first != *entry) disagree(key, *first, *entry);
      if (first == nullptr) first = &*entry;
    }
  }

  void disagree(const std::string& key, const Json& first, const Json& other) {
    const std::string evidence = fmt::format("two spellings disagree: {} and {} ({})",
                                             shown_value(first), shown_value(other), key);
    if (key == kLeftAlone) return list_.warn(of(key), evidence, "keep one of them");
    list_.ok(of(key), fmt::format("{}; msprof collect sets both in its copy", evidence));
  }

  void check_on_off(std::initializer_list<const char*> spellings) {
    const Json* value = find(spellings);
    if (value == nullptr || *value == "on") return;
    is_set_by_collect(*spellings.begin(), value, "on",
                      *value == "off" ? "does not record it" : "treats it as off");
  }

  void check_metrics() {
    const Json* value = find({"aic_metrics", "aac_metrics"});
    if (value != nullptr && value->is_string() &&
        value->get_ref<const std::string&>() == kArithmeticUtilization) {
      return;
    }
    is_set_by_collect("aic_metrics", value, kArithmeticUtilization,
                      "does not record the core: no op_summary");
  }

  void check_interval() {
    const Json* value = find({"interval"});
    if (value == nullptr) return;
    std::uint64_t number = 0;
    const std::string text = value->is_string() ? value->get<std::string>() : value->dump();
    const bool is_number =
        (value->is_string() || value->is_number_unsigned()) && parse_u64(text, number);
    if (is_number && number == 0) return list_.ok(of("interval"), "0: every inference");
    is_set_by_collect("interval", value, "0 (--interval N changes it)",
                      is_number && number <= static_cast<std::uint64_t>(kMaxInterval)
                          ? "may lose inferences that run in quick succession"
                          : fmt::format("must be a whole number from 0 to {}", kMaxInterval));
  }

  // Returns the file's "output"; empty if missing or not accepted by boards.
  std::string check_output() {
    const Json* value = find({"output"});
    std::string path = value != nullptr && value->is_string() ? value->get<std::string>() : "";
    const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("_/.-").find(c) != std::string_view::npos;
    });
    if (!path.empty() && plain && path.size() <= kMaxOutputBytes) return path;
    is_set_by_collect("output", value, "a separate folder",
                      path.empty() ? "writes captures next to the executable"
                                   : "must be a path of letters, digits and '_'");
    return "";
  }

  CheckList& list_;
  const std::string& name_;
  const Json& profiler_;
};

void check_dump(CheckList& list, const std::string& name, std::string_view text) {
  const std::string of = fmt::format("{}: dump", name);
  if (!patch_acl_json(text, {}, "").is_dump_on) return list.ok(of, "off");
  list.fail(of, "dump is also on: dump and profiling cannot be combined",
            "switch it off in \"dump\"", Exit::partial_data);
}

}  // namespace

std::string check_acl_json(CheckList& list, const std::string& name, std::string_view text) {
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    const Json lenient = Json::parse(text, nullptr, false, true);
    if (!lenient.is_discarded()) {
      list.ok(name,
              "has comments; msprof collect removes them from its copy, boards do not accept them");
      document = lenient;
    }
  }
  if (!document.is_object()) {
    list.warn(name,
              fmt::format("is not {}; msprof collect replaces it with a default one in its copy, a "
                          "run without msprof is not profiled",
                          document.is_discarded() ? "JSON" : "a JSON object"),
              fmt::format("python3 -m json.tool {} shows the location", name));
    return "";
  }
  check_dump(list, name, text);
  const auto profiler = document.find("profiler");
  if (profiler == document.end() || !profiler->is_object()) {
    list.ok(name,
            "has no object \"profiler\"; msprof collect adds it to its copy, a run without msprof "
            "is not profiled");
    return "";
  }
  return AclChecks(list, name, *profiler).check();
}

void check_acl_output(CheckList& list, const std::string& name, const std::string& output) {
  std::error_code error;
  const bool is_there = fs::is_directory(output, error);
  const bool writable = is_there && ::access(output.c_str(), W_OK | X_OK) == 0;
  report_acl_output(list, name, output, is_there, writable, "here");
}

void report_acl_output(CheckList& list, const std::string& name, const std::string& output,
                       bool is_there, bool is_writable, std::string_view where) {
  const std::string of = fmt::format("{}: output", name);
  if (is_writable) return list.ok(of, fmt::format("{} can be written", output));
  list.ok(of, fmt::format("{} {} {}; msprof collect uses a separate folder, a run without "
                          "msprof writes captures next to the executable",
                          output, is_there ? "cannot be written" : "is not a folder", where));
}

}  // namespace msprof
