// RuleJson: one object of a rule file, read key by key; what is wrong becomes a sentence with file
// and rule. For rule_file.cpp and rule_conditions.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/rule.hpp"

namespace msprof {

// Where we are: "rules.json: rule 'hot_layer'".
struct RulePlace {
  std::string file;
  std::string rule;
  [[noreturn]] void fail(std::string_view what) const;
};

class RuleJson {
 public:
  // Throws where `value` is no object.
  RuleJson(const nlohmann::json& value, std::string_view what, const RulePlace& place);

  // Null where there is no such key.
  const nlohmann::json* find(std::string_view key);
  const nlohmann::json& need(std::string_view key);
  std::string text(std::string_view key);     // empty where there is none
  Bilingual bilingual(std::string_view key);  // empty where there is none
  std::vector<std::string> texts(std::string_view key);
  // Throws for keys that nobody asked for.
  void end() const;

  const RulePlace& place() const { return place_; }

 private:
  const nlohmann::json& object_;
  std::string what_;
  const RulePlace& place_;
  std::vector<std::string> known_;
};

// A text of at most some thousand bytes; `what` is its key.
std::string text_of(const nlohmann::json& value, std::string_view what, const RulePlace& place);
// One text, or a list of texts.
std::vector<std::string> texts_of(const nlohmann::json& value, std::string_view what,
                                  const RulePlace& place);

// The condition of `rule`, whose thresholds are known: where, group, sequence, fact, sql, needs.
void read_conditions(RuleJson& json, Rule& rule);

}  // namespace msprof
