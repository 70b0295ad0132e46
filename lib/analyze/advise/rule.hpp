// Rule: a condition on a capture, its meaning and its remedy. Rules are data: built-in ones are in
// rules.json, users can add files in the same format (docs/rules.md).
//
// A rule has one of four conditions:
//   where     rows of a summary table, read in one pass for all rules
//   sequence  consecutive operators, in the same pass
//   fact      a number computed over all operators of a device (facts.hpp)
//   sql       a SELECT over the views (query/views.hpp); its rows are the evidence
// Cluster rules use `sql` over the cluster views (query/cluster_views.hpp). Shares are in percent,
// times in us.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class RuleSeverity { problem, hint, info };
std::string_view severity_name(RuleSeverity severity);

enum class Language { en, zh };

struct Bilingual {
  std::string en;
  std::string zh;
  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
};

enum class Comparator {
  less,
  less_equal,
  greater,
  greater_equal,
  equal,  // numbers: rounded to two decimals; texts: ignoring case
  not_equal,
  in,
  not_in,
  contains
};

// Alternative names of a column; the first one that exists in the table is used.
using Field = std::vector<std::string>;

// A number, or the name of a threshold ("$share_percent").
struct Limit {
  double number = 0;
  std::string threshold;
};

struct Condition {
  Field left;
  Comparator comparator = Comparator::equal;
  // Right-hand side: texts, another field, or else a number.
  std::vector<std::string> texts{};
  Field right{};
  Limit limit{};
  bool is_about_text() const { return !texts.empty(); }
};

// A condition on all matching rows together.
struct GroupCondition {
  std::optional<Limit> count_above;
  std::optional<Limit> rows_above;          // number of rows in the table
  std::optional<Limit> rows_above_percent;  // matches in percent of all rows
  // Sum of `share_of` over the matches, in percent of the sum of all `share_in` over all rows.
  std::optional<Limit> share_above_percent;
  Field share_of;
  std::vector<Field> share_in;
};

// "Mish": Softplus, Tanh, Mul; each element is a list of alternative types.
struct RulePattern {
  std::string name;
  std::vector<std::vector<std::string>> elements;
};

struct RuleSequence {
  Field of;
  std::vector<RulePattern> patterns;
  std::size_t costs_from = 0;  // index of the first element whose time counts as cost
};

struct FactCondition {
  std::string name;
  Comparator comparator = Comparator::greater;
  Limit limit;
};

// The rule's section in prof_rule_<device>.json. Source: cann_device.md 22.
struct ProfRuleEntry {
  std::string group;  // "Op Summary", "Op Parallel", "Model Summary"
  std::string type;
  std::string subtype;
  std::string suggestion;
};

struct Rule {
  std::string id;
  std::string file;  // empty: built-in rule
  RuleSeverity severity = RuleSeverity::hint;
  Bilingual title;
  Bilingual advice;
  Bilingual missing;  // shown if the required data is missing
  std::string source;
  std::map<std::string, double> thresholds;
  bool is_about_cluster = false;  // "scope": "cluster"; otherwise for captures
  bool is_advice = true;          // false: used only for prof_rule_<device>.json
  std::optional<ProfRuleEntry> prof_rule;

  std::string table = "op_summary";
  Field name;
  Field time;
  Field evidence;  // columns to show
  std::vector<Condition> where;
  GroupCondition group;
  std::optional<RuleSequence> sequence;
  std::optional<FactCondition> fact;
  std::string sql;
  std::string needs;  // a SELECT; if it returns no rows, the rule has no data

  double resolve_limit(const Limit& limit) const;
};

bool compare(double left, Comparator comparator, double right);
// Compares texts, ignoring the case of ASCII letters.
bool compare(std::string_view left, Comparator comparator, const std::vector<std::string>& right);

}  // namespace msprof
