#include "analyze/advise/rule_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/advise/facts.hpp"
#include "analyze/advise/rule.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"

namespace msprof {

// Contents of rules.json and cluster_rules.json, compiled in.
extern const std::string_view kBuiltinRules;
extern const std::string_view kClusterRules;

namespace {

using nlohmann::json;

constexpr std::size_t kMaxText = 10'000;
constexpr std::size_t kMaxTexts = 1'000;

// Shortens untrusted text for a message.
std::string shown(std::string_view text) {
  return shorten(printable(text.substr(0, 200)), 60);
}

// Location for error messages: "rules.json: rule 'hot_layer'".
struct RuleLocation {
  std::string file;
  std::string rule;
  [[noreturn]] void fail(std::string_view what) const {
    const std::string of = rule.empty() ? "" : fmt::format("rule '{}': ", shown(rule));
    throw Error(Exit::usage, fmt::format("{}: {}{}; docs/rules.md describes the format of rules",
                                         file, of, what));
  }
};

// Returns a non-empty string of at most kMaxText bytes; `what` is its key, for messages.
std::string parse_text(const json& value, std::string_view what, const RuleLocation& place) {
  if (!value.is_string()) place.fail(fmt::format("'{}' is not a string", shown(what)));
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) place.fail(fmt::format("'{}' is empty", shown(what)));
  if (text.size() > kMaxText) {
    place.fail(fmt::format("'{}' is longer than {} bytes", shown(what), with_thousands(kMaxText)));
  }
  return text;
}

// Returns one string or a list of strings.
std::vector<std::string> parse_texts(const json& value, std::string_view what,
                                     const RuleLocation& place) {
  if (!value.is_array()) return {parse_text(value, what, place)};
  if (value.empty() || value.size() > kMaxTexts)
    place.fail(fmt::format("'{}' must be a list of 1 to {} strings", shown(what), kMaxTexts));
  std::vector<std::string> texts;
  for (const json& text : value) texts.push_back(parse_text(text, what, place));
  return texts;
}

// Reads an object of a rule file key by key. Errors name the file and the rule.
class RuleJson {
 public:
  // Throws if `value` is not an object.
  RuleJson(const json& value, std::string_view what, const RuleLocation& place)
      : object_(value), what_(what), place_(place) {
    if (!value.is_object()) place.fail(fmt::format("{} is not an object", what));
  }

  // Returns null if the key is missing.
  const json* find(std::string_view key) {
    known_.emplace_back(key);
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }

  const json& need(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) place_.fail(fmt::format("{} has no '{}'", what_, key));
    return *value;
  }

  // Empty if the key is missing.
  std::string text(std::string_view key) {
    const json* value = find(key);
    return value == nullptr ? "" : parse_text(*value, key, place_);
  }

  // Empty if the key is missing.
  Bilingual bilingual(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) return {};
    if (value->is_string()) {
      const std::string both = parse_text(*value, key, place_);
      return {both, both};
    }
    RuleJson texts(*value, key, place_);
    Bilingual text{parse_text(texts.need("en"), "en", place_),
                   parse_text(texts.need("zh"), "zh", place_)};
    texts.end();
    return text;
  }

  std::vector<std::string> texts(std::string_view key) {
    const json* value = find(key);
    return value == nullptr ? std::vector<std::string>() : parse_texts(*value, key, place_);
  }

  // Throws if the object has keys that were not read.
  void end() const {
    for (const auto& item : object_.items()) {
      if (std::find(known_.begin(), known_.end(), item.key()) == known_.end()) {
        place_.fail(fmt::format("unknown key '{}' in {}; valid: {}", shown(item.key()), what_,
                                fmt::join(known_, ", ")));
      }
    }
  }

  const RuleLocation& place() const { return place_; }

 private:
  const nlohmann::json& object_;
  std::string what_;
  const RuleLocation& place_;
  std::vector<std::string> known_;
};

// The conditions of a rule.

constexpr std::size_t kMaxConditions = 100;

struct NamedComparator {
  std::string_view name;
  Comparator comparator;
};
constexpr std::array<NamedComparator, 9> kComparators = {{{"<", Comparator::less},
                                                          {"<=", Comparator::less_equal},
                                                          {">", Comparator::greater},
                                                          {">=", Comparator::greater_equal},
                                                          {"==", Comparator::equal},
                                                          {"!=", Comparator::not_equal},
                                                          {"in", Comparator::in},
                                                          {"not in", Comparator::not_in},
                                                          {"contains", Comparator::contains}}};

Comparator parse_comparator(const json& value, const RuleLocation& place) {
  const std::string name = parse_text(value, "comparator", place);
  for (const auto& known : kComparators) {
    if (known.name == name) return known.comparator;
  }
  place.fail(
      fmt::format("unknown comparator '{}'; valid: <, <=, >, >=, ==, !=, in, not in, contains",
                  printable(name.substr(0, 40))));
}

bool is_order(Comparator comparator) {
  return comparator <= Comparator::greater_equal;
}

Limit parse_limit(const json& value, std::string_view what, const Rule& rule,
                  const RuleLocation& place) {
  if (value.is_number()) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) place.fail(fmt::format("'{}' is not a finite number", what));
    return {number, {}};
  }
  const std::string name = value.is_string() ? value.get_ref<const std::string&>() : std::string();
  if (!name.starts_with("$"))
    place.fail(
        fmt::format("'{}' is neither a number nor the name of a threshold (\"$name\")", what));
  if (!rule.thresholds.contains(name.substr(1)))
    place.fail(fmt::format("'{}' is not a threshold of this rule", printable(name.substr(0, 40))));
  return {0, name.substr(1)};
}

// Returns names in lower case, as the columns of tables have.
Field parse_field(const json& value, std::string_view what, const RuleLocation& place) {
  Field field = parse_texts(value, what, place);
  for (std::string& name : field) name = lower_ascii(name);
  return field;
}

Condition parse_condition(const json& value, const Rule& rule, const RuleLocation& place) {
  if (!value.is_array() || value.size() != 3)
    place.fail("a condition must be a list of three: field, comparator, value");
  Condition condition;
  condition.left = parse_field(value[0], "field", place);
  condition.comparator = parse_comparator(value[1], place);
  const json& right = value[2];
  const bool is_threshold =
      right.is_string() && right.get_ref<const std::string&>().starts_with("$");
  if (right.is_object()) {
    RuleJson object(right, "the value of a condition", place);
    condition.right = parse_field(object.need("field"), "field", place);
    object.end();
  } else if (right.is_number() || is_threshold) {
    condition.limit = parse_limit(right, "value", rule, place);
  } else {
    condition.texts = parse_texts(right, "value", place);
  }
  const bool is_text_only = condition.comparator >= Comparator::in;
  if (condition.is_about_text() ? is_order(condition.comparator) : is_text_only) {
    place.fail(
        fmt::format("'{}' cannot be used with a value of this type", printable(value[1].dump())));
  }
  return condition;
}

std::vector<Condition> parse_conditions(const json& value, const Rule& rule,
                                        const RuleLocation& place) {
  if (!value.is_array() || value.size() > kMaxConditions)
    place.fail(fmt::format("'where' must be a list of at most {} conditions", kMaxConditions));
  std::vector<Condition> conditions;
  for (const json& one : value) conditions.push_back(parse_condition(one, rule, place));
  return conditions;
}

GroupCondition parse_group(const json& value, const Rule& rule, const RuleLocation& place) {
  RuleJson object(value, "group", place);
  GroupCondition group;
  const auto read = [&](std::string_view key, std::optional<Limit>& limit) {
    if (const json* above = object.find(key)) limit = parse_limit(*above, key, rule, place);
  };
  read("count_above", group.count_above);
  read("rows_above", group.rows_above);
  read("rows_above_percent", group.rows_above_percent);
  read("share_above_percent", group.share_above_percent);
  if (const json* of = object.find("share_of"))
    group.share_of = parse_field(*of, "share_of", place);
  if (const json* in = object.find("share_in")) {
    if (!in->is_array() || in->size() > kMaxConditions)
      place.fail("'share_in' must be a list of fields");
    for (const json& field : *in) group.share_in.push_back(parse_field(field, "share_in", place));
  }
  object.end();
  return group;
}

RuleSequence parse_sequence(const json& value, const RuleLocation& place) {
  RuleJson object(value, "sequence", place);
  RuleSequence sequence;
  sequence.of = parse_field(object.need("of"), "of", place);
  if (const json* from = object.find("costs_from")) {
    if (!from->is_number_unsigned() || from->get<std::uint64_t>() > 10)
      place.fail("'costs_from' must be a number from 0 to 10");
    sequence.costs_from = from->get<std::size_t>();
  }
  const json& patterns = object.need("patterns");
  if (!patterns.is_object()) place.fail("'patterns' is not an object");
  for (const auto& item : patterns.items()) {
    RulePattern pattern{parse_text(item.key(), "patterns", place), {}};
    if (!item.value().is_array() || item.value().empty() || item.value().size() > 10)
      place.fail("a pattern must be a list of 1 to 10 types");
    for (const json& element : item.value())
      pattern.elements.push_back(parse_texts(element, "patterns", place));
    if (sequence.costs_from >= pattern.elements.size())
      place.fail("'costs_from' must be less than the length of a pattern");
    sequence.patterns.push_back(std::move(pattern));
  }
  if (sequence.patterns.empty() || sequence.patterns.size() > kMaxConditions)
    place.fail(fmt::format("a sequence must have 1 to {} patterns", kMaxConditions));
  object.end();
  return sequence;
}

FactCondition parse_fact(const json& value, const Rule& rule, const RuleLocation& place) {
  if (!value.is_array() || value.size() != 3)
    place.fail("'fact' must be a list of three: name, comparator, value");
  FactCondition fact;
  fact.name = parse_text(value[0], "fact", place);
  if (!is_fact(fact.name)) {
    place.fail(fmt::format("unknown fact '{}'; valid: {}", printable(fact.name.substr(0, 40)),
                           fmt::join(fact_names(), ", ")));
  }
  fact.comparator = parse_comparator(value[1], place);
  if (fact.comparator >= Comparator::in) place.fail("a fact must be compared with a number");
  fact.limit = parse_limit(value[2], "value", rule, place);
  return fact;
}

// Reads the condition of `rule` (where, group, sequence, fact, sql, needs). Thresholds must have
// been read.
void read_conditions(RuleJson& object, Rule& rule) {
  const RuleLocation& place = object.place();
  const json* where = object.find("where");
  const json* sequence = object.find("sequence");
  const json* fact = object.find("fact");
  if (where != nullptr) rule.where = parse_conditions(*where, rule, place);
  if (sequence != nullptr) rule.sequence = parse_sequence(*sequence, place);
  if (fact != nullptr) rule.fact = parse_fact(*fact, rule, place);
  if (const json* group = object.find("group")) rule.group = parse_group(*group, rule, place);
  rule.sql = object.text("sql");
  rule.needs = object.text("needs");
  const auto forms = std::array<bool, 4>{where != nullptr, sequence != nullptr, fact != nullptr,
                                         !rule.sql.empty()};
  if (std::count(forms.begin(), forms.end(), true) != 1)
    place.fail("exactly one of 'where', 'sequence', 'fact' and 'sql' is required");
  if (!rule.needs.empty() && rule.sql.empty()) place.fail("'needs' requires 'sql'");
}

constexpr std::uint64_t kMaxFile = 16'000'000;
constexpr std::size_t kMaxRules = 1'000;
constexpr std::size_t kMaxId = 64;
constexpr std::string_view kSchema = "msprof.rules/1";

// Defaults for both variants of op_summary.
const Field kName = {"layer_name", "op_name"};
const Field kTime = {"time", "task_duration"};

// One entry of a rule file.
struct RuleEntry {
  Rule rule;
  bool is_change = false;  // only changes values of an existing rule
  bool is_enabled = true;
  std::optional<RuleSeverity> severity;
};

std::string parse_id(const json& value, const RuleLocation& place) {
  std::string id = parse_text(value, "id", place);
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (id.size() > kMaxId || !std::all_of(id.begin(), id.end(), is_good)) {
    place.fail(
        fmt::format("'{}' is not a valid id: use letters, digits, '_', '-' and '.', at most {}",
                    shorten(printable(id.substr(0, 200)), 60), kMaxId));
  }
  return id;
}

std::optional<RuleSeverity> parse_severity(const std::string& name, const RuleLocation& place) {
  if (name.empty()) return std::nullopt;
  for (const RuleSeverity severity :
       {RuleSeverity::problem, RuleSeverity::hint, RuleSeverity::info}) {
    if (severity_name(severity) == name) return severity;
  }
  place.fail(fmt::format("unknown severity '{}'; valid: problem, hint, info",
                         printable(name.substr(0, 40))));
}

std::map<std::string, double> parse_thresholds(const json& value, const RuleLocation& place) {
  std::map<std::string, double> thresholds;
  if (!value.is_object() || value.size() > 100)
    place.fail("'thresholds' is not an object of numbers");
  for (const auto& item : value.items()) {
    const bool is_number = item.value().is_number() && std::isfinite(item.value().get<double>());
    if (!is_number || item.key().empty() || item.key().size() > kMaxId)
      place.fail(
          fmt::format("threshold '{}' is not a number", printable(item.key().substr(0, 64))));
    thresholds[item.key()] = item.value().get<double>();
  }
  return thresholds;
}

bool parse_flag(RuleJson& object, std::string_view key) {
  const json* value = object.find(key);
  if (value != nullptr && !value->is_boolean())
    object.place().fail(fmt::format("'{}' must be true or false", key));
  return value == nullptr || value->get<bool>();
}

std::optional<ProfRuleEntry> parse_prof_rule(RuleJson& object) {
  const json* value = object.find("prof_rule");
  if (value == nullptr) return std::nullopt;
  RuleJson place(*value, "prof_rule", object.place());
  ProfRuleEntry prof_rule{place.text("group"), place.text("type"), place.text("subtype"),
                          place.text("suggestion")};
  place.end();
  return prof_rule;
}

bool is_about_cluster(RuleJson& object) {
  const std::string scope = object.text("scope");
  if (!scope.empty() && scope != "capture" && scope != "cluster")
    object.place().fail("'scope' is neither \"capture\" nor \"cluster\"");
  return scope == "cluster";
}

Field field_or(RuleJson& object, std::string_view key, const Field& otherwise) {
  Field field = object.texts(key);
  return field.empty() ? otherwise : field;
}

RuleEntry parse_entry(const json& value, const std::string& file) {
  RuleLocation place{file, {}};
  RuleJson object(value, "a rule", place);
  RuleEntry entry;
  Rule& rule = entry.rule;
  rule.id = parse_id(object.need("id"), place);
  rule.file = file;
  place.rule = rule.id;
  entry.severity = parse_severity(object.text("severity"), place);
  entry.is_enabled = parse_flag(object, "enabled");
  if (const json* thresholds = object.find("thresholds"))
    rule.thresholds = parse_thresholds(*thresholds, place);
  const auto says = [&](std::string_view key) { return value.contains(key); };
  entry.is_change =
      !says("where") && !says("sequence") && !says("fact") && !says("sql") && !says("title");
  if (entry.is_change) {
    object.end();
    return entry;
  }
  if (!entry.severity) place.fail("'severity' is missing");
  rule.severity = *entry.severity;
  rule.title = object.bilingual("title");
  rule.advice = object.bilingual("advice");
  rule.missing = object.bilingual("missing");
  if (rule.title.en.empty() || rule.advice.en.empty())
    place.fail("'title' and 'advice' are required");
  rule.source = object.text("source");
  rule.is_advice = parse_flag(object, "is_advice");
  rule.prof_rule = parse_prof_rule(object);
  rule.is_about_cluster = is_about_cluster(object);
  if (says("table")) rule.table = object.text("table");
  rule.name = field_or(object, "name", kName);
  rule.time = field_or(object, "time", kTime);
  rule.evidence = object.texts("evidence");
  read_conditions(object, rule);
  if (rule.is_about_cluster && rule.sql.empty())
    place.fail("a rule with scope \"cluster\" requires 'sql'");
  object.end();
  return entry;
}

std::vector<RuleEntry> parse_entries(std::string_view text, const std::string& file) {
  const RuleLocation place{file, {}};
  const json document = json::parse(text, nullptr, false, true);
  if (document.is_discarded()) place.fail("invalid JSON");
  RuleJson object(document, "the file", place);
  if (object.text("schema") != kSchema) place.fail(fmt::format("'schema' is not \"{}\"", kSchema));
  const json& rules = object.need("rules");
  if (!rules.is_array() || rules.size() > kMaxRules)
    place.fail(fmt::format("'rules' must be a list of at most {} rules", kMaxRules));
  object.end();
  std::vector<RuleEntry> entries;
  std::set<std::string> ids;
  for (const json& rule : rules) {
    entries.push_back(parse_entry(rule, file));
    const std::string& id = entries.back().rule.id;
    if (!ids.insert(id).second) RuleLocation{file, id}.fail("two rules have the same id");
  }
  return entries;
}

void change(Rule& rule, const RuleEntry& entry) {
  for (const auto& [name, value] : entry.rule.thresholds) {
    if (!rule.thresholds.contains(name)) {
      std::vector<std::string> known;
      for (const auto& threshold : rule.thresholds) known.push_back(threshold.first);
      RuleLocation{entry.rule.file, rule.id}.fail(fmt::format(
          "unknown threshold '{}'; valid: {}", printable(name), fmt::join(known, ", ")));
    }
    rule.thresholds[name] = value;
  }
  if (entry.severity) rule.severity = *entry.severity;
}

}  // namespace

std::vector<std::string> add_rules(std::string_view text, const std::string& file,
                                   std::vector<Rule>& rules) {
  std::vector<std::string> notes;
  for (RuleEntry& entry : parse_entries(text, file)) {
    const std::string id = entry.rule.id;
    const auto at =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
    if (at == rules.end()) {
      if (entry.is_change)
        RuleLocation{file, id}.fail("the rule has no condition, and no other rule has this id");
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
    text = read_text_file(file, kMaxFile);
  } catch (const Error& error) {
    throw Error(Exit::usage, fmt::format("--rules: {}", error.what()));
  }
  return add_rules(text, name, rules);
}

const std::vector<Rule>& builtin_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules;
    add_rules(kBuiltinRules, "rules.json", rules);
    add_rules(kClusterRules, "cluster_rules.json", rules);
    for (Rule& rule : rules) rule.file.clear();
    return rules;
  }();
  return all;
}

}  // namespace msprof
