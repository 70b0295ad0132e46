#include "analyze/advise/rule_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

using nlohmann::json;

namespace {

constexpr std::size_t kLongestText = 10'000;
constexpr std::size_t kMostTexts = 1'000;

// For messages: what a file holds may be long.
std::string shown(std::string_view text) {
  return shorten(printable(text.substr(0, 200)), 60);
}

}  // namespace

void RulePlace::fail(std::string_view what) const {
  const std::string of = rule.empty() ? "" : fmt::format("rule '{}': ", shown(rule));
  throw Error(Exit::usage,
              fmt::format("{}: {}{}; README, \"Advice\", has the form of rules", file, of, what));
}

RuleJson::RuleJson(const json& value, std::string_view what, const RulePlace& place)
    : object_(value), what_(what), place_(place) {
  if (!value.is_object()) place.fail(fmt::format("{} is no object", what));
}

const json* RuleJson::find(std::string_view key) {
  known_.emplace_back(key);
  const auto at = object_.find(key);
  return at == object_.end() ? nullptr : &*at;
}

const json& RuleJson::need(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) place_.fail(fmt::format("{} has no '{}'", what_, key));
  return *value;
}

std::string RuleJson::text(std::string_view key) {
  const json* value = find(key);
  return value == nullptr ? "" : text_of(*value, key, place_);
}

std::vector<std::string> RuleJson::texts(std::string_view key) {
  const json* value = find(key);
  return value == nullptr ? std::vector<std::string>() : texts_of(*value, key, place_);
}

Bilingual RuleJson::bilingual(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  if (value->is_string()) {
    const std::string both = text_of(*value, key, place_);
    return {both, both};
  }
  RuleJson texts(*value, key, place_);
  Bilingual text{text_of(texts.need("en"), "en", place_), text_of(texts.need("zh"), "zh", place_)};
  texts.end();
  return text;
}

void RuleJson::end() const {
  for (const auto& item : object_.items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) == known_.end()) {
      place_.fail(fmt::format("unknown key '{}' in {}; known: {}", shown(item.key()), what_,
                              fmt::join(known_, ", ")));
    }
  }
}

std::string text_of(const json& value, std::string_view what, const RulePlace& place) {
  if (!value.is_string()) place.fail(fmt::format("'{}' is no text", shown(what)));
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) place.fail(fmt::format("'{}' is empty", shown(what)));
  if (text.size() > kLongestText) {
    place.fail(
        fmt::format("'{}' is longer than {} bytes", shown(what), with_thousands(kLongestText)));
  }
  return text;
}

std::vector<std::string> texts_of(const json& value, std::string_view what,
                                  const RulePlace& place) {
  if (!value.is_array()) return {text_of(value, what, place)};
  if (value.empty() || value.size() > kMostTexts)
    place.fail(fmt::format("'{}' is a list of 1 to {} texts", shown(what), kMostTexts));
  std::vector<std::string> texts;
  for (const json& text : value) texts.push_back(text_of(text, what, place));
  return texts;
}

}  // namespace msprof
