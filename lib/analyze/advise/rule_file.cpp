#include "analyze/advise/rule_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analyze/advise/builtin_rules.hpp"
#include "analyze/advise/rule_json.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"

namespace msprof {

using nlohmann::json;

namespace {

constexpr std::uint64_t kLargestFile = 16'000'000;
constexpr std::size_t kMostRules = 1'000;
constexpr std::size_t kLongestId = 64;
constexpr std::string_view kSchema = "msprof.rules/1";

// What a rule has where it does not say otherwise; the names of both kinds of op_summary.
const Field kName = {"layer_name", "op_name"};
const Field kTime = {"time", "task_duration"};

// What a file says of one id.
struct Entry {
  Rule rule;
  bool is_change = false;  // only some values of a rule that is there
  bool is_enabled = true;
  std::optional<RuleSeverity> severity;
};

std::string id_of(const json& value, const RulePlace& place) {
  const std::string id = text_of(value, "id", place);
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (id.size() > kLongestId || !std::all_of(id.begin(), id.end(), is_good)) {
    place.fail(fmt::format("'{}' is no id: letters, digits, '_', '-' and '.', at most {}",
                           shorten(printable(id.substr(0, 200)), 60), kLongestId));
  }
  return id;
}

std::optional<RuleSeverity> severity_of(const std::string& name, const RulePlace& place) {
  if (name.empty()) return std::nullopt;
  for (const RuleSeverity severity :
       {RuleSeverity::problem, RuleSeverity::hint, RuleSeverity::info}) {
    if (severity_name(severity) == name) return severity;
  }
  place.fail(fmt::format("unknown severity '{}'; known: problem, hint, info",
                         printable(name.substr(0, 40))));
}

std::map<std::string, double> thresholds_of(const json& value, const RulePlace& place) {
  std::map<std::string, double> thresholds;
  if (!value.is_object() || value.size() > 100) place.fail("'thresholds' is no object of numbers");
  for (const auto& item : value.items()) {
    const bool is_number = item.value().is_number() && std::isfinite(item.value().get<double>());
    if (!is_number || item.key().empty() || item.key().size() > kLongestId)
      place.fail(fmt::format("threshold '{}' is no number", printable(item.key().substr(0, 64))));
    thresholds[item.key()] = item.value().get<double>();
  }
  return thresholds;
}

bool flag_of(RuleJson& object, std::string_view key) {
  const json* value = object.find(key);
  if (value != nullptr && !value->is_boolean())
    object.place().fail(fmt::format("'{}' is neither true nor false", key));
  return value == nullptr || value->get<bool>();
}

std::optional<ProfRulePlace> prof_rule_of(RuleJson& object) {
  const json* value = object.find("prof_rule");
  if (value == nullptr) return std::nullopt;
  RuleJson place(*value, "prof_rule", object.place());
  ProfRulePlace prof_rule{place.text("group"), place.text("type"), place.text("subtype"),
                          place.text("suggestion")};
  place.end();
  return prof_rule;
}

Field field_or(RuleJson& object, std::string_view key, const Field& otherwise) {
  Field field = object.texts(key);
  return field.empty() ? otherwise : field;
}

Entry entry_of(const json& value, const std::string& file) {
  RulePlace place{file, {}};
  RuleJson object(value, "a rule", place);
  Entry entry;
  Rule& rule = entry.rule;
  rule.id = id_of(object.need("id"), place);
  rule.file = file;
  place.rule = rule.id;
  entry.severity = severity_of(object.text("severity"), place);
  entry.is_enabled = flag_of(object, "enabled");
  if (const json* thresholds = object.find("thresholds"))
    rule.thresholds = thresholds_of(*thresholds, place);
  const auto says = [&](std::string_view key) { return value.contains(key); };
  entry.is_change =
      !says("where") && !says("sequence") && !says("fact") && !says("sql") && !says("title");
  if (entry.is_change) {
    object.end();
    return entry;
  }
  if (!entry.severity) place.fail("it has no 'severity'");
  rule.severity = *entry.severity;
  rule.title = object.bilingual("title");
  rule.advice = object.bilingual("advice");
  rule.missing = object.bilingual("missing");
  if (rule.title.en.empty() || rule.advice.en.empty())
    place.fail("it needs a 'title' and an 'advice'");
  rule.source = object.text("source");
  rule.is_advice = flag_of(object, "is_advice");
  rule.prof_rule = prof_rule_of(object);
  if (says("table")) rule.table = object.text("table");
  rule.name = field_or(object, "name", kName);
  rule.time = field_or(object, "time", kTime);
  rule.evidence = object.texts("evidence");
  read_conditions(object, rule);
  object.end();
  return entry;
}

std::vector<Entry> entries_of(std::string_view text, const std::string& file) {
  const RulePlace place{file, {}};
  const json document = json::parse(text, nullptr, false, true);
  if (document.is_discarded()) place.fail("it is not JSON");
  RuleJson object(document, "the file", place);
  if (object.text("schema") != kSchema) place.fail(fmt::format("'schema' is not \"{}\"", kSchema));
  const json& rules = object.need("rules");
  if (!rules.is_array() || rules.size() > kMostRules)
    place.fail(fmt::format("'rules' is a list of at most {} rules", kMostRules));
  object.end();
  std::vector<Entry> entries;
  std::set<std::string> ids;
  for (const json& rule : rules) {
    entries.push_back(entry_of(rule, file));
    const std::string& id = entries.back().rule.id;
    if (!ids.insert(id).second) RulePlace{file, id}.fail("two rules have this id");
  }
  return entries;
}

void change(Rule& rule, const Entry& entry) {
  for (const auto& [name, value] : entry.rule.thresholds) {
    if (!rule.thresholds.contains(name)) {
      std::vector<std::string> known;
      for (const auto& threshold : rule.thresholds) known.push_back(threshold.first);
      RulePlace{entry.rule.file, rule.id}.fail(fmt::format(
          "it has no threshold '{}'; known: {}", printable(name), fmt::join(known, ", ")));
    }
    rule.thresholds[name] = value;
  }
  if (entry.severity) rule.severity = *entry.severity;
}

}  // namespace

std::vector<std::string> add_rules(std::string_view text, const std::string& file,
                                   std::vector<Rule>& rules) {
  std::vector<std::string> notes;
  for (Entry& entry : entries_of(text, file)) {
    const std::string id = entry.rule.id;
    const auto at =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
    if (at == rules.end()) {
      if (entry.is_change)
        RulePlace{file, id}.fail("there is no rule of this id to change, and it has no condition");
      if (entry.is_enabled) rules.push_back(std::move(entry.rule));
      continue;
    }
    if (!entry.is_enabled) {
      notes.push_back(fmt::format("{} switches rule {} off", file, id));
      rules.erase(at);
    } else if (entry.is_change) {
      notes.push_back(fmt::format("{} changes rule {}", file, id));
      change(*at, entry);
    } else {
      notes.push_back(fmt::format("{} replaces rule {}", file, id));
      *at = std::move(entry.rule);
    }
  }
  return notes;
}

std::vector<std::string> add_rule_file(const std::filesystem::path& file,
                                       std::vector<Rule>& rules) {
  const std::string name = printable(file.string());
  std::string text;
  try {
    text = read_text_file(file, kLargestFile);
  } catch (const Error& error) {
    throw Error(Exit::usage, fmt::format("--rules: {}", error.what()));
  }
  return add_rules(text, name, rules);
}

const std::vector<Rule>& builtin_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules;
    add_rules(kBuiltinRules, "rules.json", rules);
    for (Rule& rule : rules) rule.file.clear();
    return rules;
  }();
  return all;
}

}  // namespace msprof
