// The conditions of a rule, from JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/advise/facts.hpp"
#include "analyze/advise/rule_json.hpp"
#include "base/text.hpp"

namespace msprof {

using nlohmann::json;

namespace {

constexpr std::size_t kMostConditions = 100;

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

Comparator comparator_of(const json& value, const RulePlace& place) {
  const std::string name = text_of(value, "comparator", place);
  for (const auto& known : kComparators) {
    if (known.name == name) return known.comparator;
  }
  place.fail(
      fmt::format("unknown comparator '{}'; known: <, <=, >, >=, ==, !=, in, not in, contains",
                  printable(name.substr(0, 40))));
}

bool is_order(Comparator comparator) {
  return comparator <= Comparator::greater_equal;
}

Limit limit_of(const json& value, std::string_view what, const Rule& rule, const RulePlace& place) {
  if (value.is_number()) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) place.fail(fmt::format("'{}' is no finite number", what));
    return {number, {}};
  }
  const std::string name = value.is_string() ? value.get_ref<const std::string&>() : std::string();
  if (!name.starts_with("$"))
    place.fail(fmt::format("'{}' is neither a number nor a \"$threshold\"", what));
  if (!rule.thresholds.contains(name.substr(1)))
    place.fail(fmt::format("'{}' is no threshold of it", printable(name.substr(0, 40))));
  return {0, name.substr(1)};
}

// Field names in columns are lower case, so that those of rules are.
Field field_of(const json& value, std::string_view what, const RulePlace& place) {
  Field field = texts_of(value, what, place);
  for (std::string& name : field) name = lower_ascii(name);
  return field;
}

Condition condition_of(const json& value, const Rule& rule, const RulePlace& place) {
  if (!value.is_array() || value.size() != 3)
    place.fail("a condition is a list of three: field, comparator, value");
  Condition condition;
  condition.left = field_of(value[0], "field", place);
  condition.comparator = comparator_of(value[1], place);
  const json& right = value[2];
  const bool is_threshold =
      right.is_string() && right.get_ref<const std::string&>().starts_with("$");
  if (right.is_object()) {
    RuleJson object(right, "the value of a condition", place);
    condition.right = field_of(object.need("field"), "field", place);
    object.end();
  } else if (right.is_number() || is_threshold) {
    condition.limit = limit_of(right, "value", rule, place);
  } else {
    condition.texts = texts_of(right, "value", place);
  }
  const bool is_text_only = condition.comparator >= Comparator::in;
  if (condition.is_about_text() ? is_order(condition.comparator) : is_text_only) {
    place.fail(fmt::format("'{}' does not go with its value", printable(value[1].dump())));
  }
  return condition;
}

std::vector<Condition> conditions_of(const json& value, const Rule& rule, const RulePlace& place) {
  if (!value.is_array() || value.size() > kMostConditions)
    place.fail(fmt::format("'where' is a list of at most {} conditions", kMostConditions));
  std::vector<Condition> conditions;
  for (const json& one : value) conditions.push_back(condition_of(one, rule, place));
  return conditions;
}

GroupCondition group_of(const json& value, const Rule& rule, const RulePlace& place) {
  RuleJson object(value, "group", place);
  GroupCondition group;
  const auto read = [&](std::string_view key, std::optional<Limit>& limit) {
    if (const json* above = object.find(key)) limit = limit_of(*above, key, rule, place);
  };
  read("count_above", group.count_above);
  read("rows_above", group.rows_above);
  read("rows_above_percent", group.rows_above_percent);
  read("share_above_percent", group.share_above_percent);
  if (const json* of = object.find("share_of")) group.share_of = field_of(*of, "share_of", place);
  if (const json* in = object.find("share_in")) {
    if (!in->is_array() || in->size() > kMostConditions)
      place.fail("'share_in' is a list of fields");
    for (const json& field : *in) group.share_in.push_back(field_of(field, "share_in", place));
  }
  object.end();
  return group;
}

Sequence sequence_of(const json& value, const RulePlace& place) {
  RuleJson object(value, "sequence", place);
  Sequence sequence;
  sequence.of = field_of(object.need("of"), "of", place);
  if (const json* from = object.find("costs_from")) {
    if (!from->is_number_unsigned() || from->get<std::uint64_t>() > 10)
      place.fail("'costs_from' is a number from 0 to 10");
    sequence.costs_from = from->get<std::size_t>();
  }
  const json& patterns = object.need("patterns");
  if (!patterns.is_object()) place.fail("'patterns' is no object");
  for (const auto& item : patterns.items()) {
    Pattern pattern{text_of(item.key(), "patterns", place), {}};
    if (!item.value().is_array() || item.value().empty() || item.value().size() > 10)
      place.fail("a pattern is a list of 1 to 10 types");
    for (const json& element : item.value())
      pattern.elements.push_back(texts_of(element, "patterns", place));
    if (sequence.costs_from >= pattern.elements.size())
      place.fail("'costs_from' is behind the end of a pattern");
    sequence.patterns.push_back(std::move(pattern));
  }
  if (sequence.patterns.empty() || sequence.patterns.size() > kMostConditions)
    place.fail(fmt::format("a sequence has 1 to {} patterns", kMostConditions));
  object.end();
  return sequence;
}

FactCondition fact_of(const json& value, const Rule& rule, const RulePlace& place) {
  if (!value.is_array() || value.size() != 3)
    place.fail("'fact' is a list of three: name, comparator, value");
  FactCondition fact;
  fact.name = text_of(value[0], "fact", place);
  if (!is_fact(fact.name)) {
    place.fail(fmt::format("unknown fact '{}'; known: {}", printable(fact.name.substr(0, 40)),
                           fmt::join(fact_names(), ", ")));
  }
  fact.comparator = comparator_of(value[1], place);
  if (fact.comparator >= Comparator::in) place.fail("a fact is compared with a number");
  fact.limit = limit_of(value[2], "value", rule, place);
  return fact;
}

}  // namespace

void read_conditions(RuleJson& object, Rule& rule) {
  const RulePlace& place = object.place();
  const json* where = object.find("where");
  const json* sequence = object.find("sequence");
  const json* fact = object.find("fact");
  if (where != nullptr) rule.where = conditions_of(*where, rule, place);
  if (sequence != nullptr) rule.sequence = sequence_of(*sequence, place);
  if (fact != nullptr) rule.fact = fact_of(*fact, rule, place);
  if (const json* group = object.find("group")) rule.group = group_of(*group, rule, place);
  rule.sql = object.text("sql");
  rule.needs = object.text("needs");
  const auto forms = std::array<bool, 4>{where != nullptr, sequence != nullptr, fact != nullptr,
                                         !rule.sql.empty()};
  if (std::count(forms.begin(), forms.end(), true) != 1)
    place.fail("it needs one of 'where', 'sequence', 'fact' and 'sql'");
  if (!rule.needs.empty() && rule.sql.empty()) place.fail("'needs' goes with 'sql'");
}

}  // namespace msprof
