#include "collect/acl_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace msprof {

namespace {

using Json = nlohmann::ordered_json;

std::string on_off(bool value) {
  return value ? "on" : "off";
}

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Sets one value under the spellings that are there, under the first where none is.
class Section {
 public:
  Section(Json& profiler, std::vector<std::string>& overridden)
      : profiler_(profiler), overridden_(overridden) {}

  void set(const std::vector<std::string>& spellings, const std::string& value, bool asked_for) {
    bool found = false;
    for (const std::string& key : spellings) {
      const auto entry = profiler_.find(key);
      if (entry == profiler_.end()) continue;
      found = true;
      if (!asked_for && shown(*entry) != value) {
        overridden_.push_back(fmt::format("{} {} becomes {}", key, shown(*entry), value));
      }
      *entry = value;
    }
    if (!found) profiler_[spellings.front()] = value;
  }

 private:
  Json& profiler_;
  std::vector<std::string>& overridden_;
};

// Boards name the dump switches differently; any of them counts.
bool asks_for_dump(const Json& document) {
  const auto dump = document.find("dump");
  if (dump == document.end() || !dump->is_object()) return false;
  for (const auto& [key, value] : dump->items()) {
    if (value.is_string() && lower_ascii(value.get<std::string>()) == "on") return true;
    if (key == "dump_list" && value.is_array() && !value.empty()) return true;
  }
  return false;
}

void set_profiler(Json& document, const ProfilerOptions& options, const std::string& output,
                  std::vector<std::string>& overridden) {
  Json& profiler = document["profiler"];
  if (!profiler.is_object()) profiler = Json::object();
  Section section(profiler, overridden);
  // To profile is what the command is for: a switch that is off in the file is nothing to mention.
  section.set({"switch"}, on_off(options.on.value_or(true)), true);
  section.set({"output"}, output, true);
  section.set({"interval"}, std::to_string(options.interval.value_or(0)),
              options.interval.has_value());
  section.set({"aicpu", "aacpu"}, on_off(options.aicpu.value_or(true)), options.aicpu.has_value());
  section.set({"acl_api"}, on_off(options.acl_api.value_or(true)), options.acl_api.has_value());
  section.set({"aic_metrics", "aac_metrics"},
              options.metrics.value_or(std::string(kArithmeticUtilization)),
              options.metrics.has_value());
}

std::string text_of(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

const std::vector<std::string>& aac_metrics_names() {
  static const std::vector<std::string> names = {std::string(kArithmeticUtilization)};
  return names;
}

PatchedAclJson patch_acl_json(std::string_view original, const ProfilerOptions& options,
                              const std::string& output) {
  PatchedAclJson result;
  Json document = Json::parse(original, nullptr, false, true);
  if (!document.is_object()) {
    result.replaced = true;
    document = Json::object();
  }
  result.dump_on = asks_for_dump(document);
  set_profiler(document, options, output, result.overridden);
  result.text = text_of(document);
  return result;
}

std::string default_acl_json(const ProfilerOptions& options, const std::string& output) {
  std::vector<std::string> none;
  Json document = Json::object();
  set_profiler(document, options, output, none);
  return text_of(document);
}

}  // namespace msprof
