// Rule: a condition over a capture, its meaning and its remedy. Rules are data: those of
// the product are in rules.json, users add files of the same form (docs/rules.md).
//
// A rule has one of four conditions:
//   where     rows of a summary table, read in one pass for all rules
//   sequence  operators that follow each other, in the same pass
//   fact      a number that is computed over all operators of a device (facts.hpp)
//   sql       a SELECT over the readable views (query/views.hpp) whose rows are the evidence
// One about clusters has `sql` over their views (query/cluster_views.hpp).
// Shares are in percent, times in us.
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

// A text in both languages.
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
  equal,  // numbers: rounded to two decimals; texts: regardless of the case of their letters
  not_equal,
  in,
  not_in,
  contains
};

// Names of one column in different tables: the first that a table has is meant.
using Field = std::vector<std::string>;

// A number of the rule file, or the name of a threshold ("$share_percent").
struct Limit {
  double number = 0;
  std::string threshold;
};

struct Condition {
  Field left;
  Comparator comparator = Comparator::equal;
  // Right side of the comparison: texts, another field, or else a number.
  std::vector<std::string> texts{};
  Field right{};
  Limit limit{};
  bool is_about_text() const { return !texts.empty(); }
};

// Condition on all matching rows together.
struct GroupCondition {
  std::optional<Limit> count_above;
  std::optional<Limit> rows_above;          // all rows of the table
  std::optional<Limit> rows_above_percent;  // matches, of all rows
  // Sum of `share_of` over the matches, in percent of the sum of all `share_in` over all rows.
  std::optional<Limit> share_above_percent;
  Field share_of;
  std::vector<Field> share_in;
};

// "Mish": Softplus, Tanh, Mul; each element is one of several types.
struct Pattern {
  std::string name;
  std::vector<std::vector<std::string>> elements;
};

struct Sequence {
  Field of;
  std::vector<Pattern> patterns;
  std::size_t costs_from = 0;  // elements before it would be there in any case
};

struct FactCondition {
  std::string name;
  Comparator comparator = Comparator::greater;
  Limit limit;
};

// Its section in prof_rule_<device>.json. Source: cann_device.md 22.
struct ProfRuleEntry {
  std::string group;  // "Op Summary", "Op Parallel", "Model Summary"
  std::string type;
  std::string subtype;
  std::string suggestion;
};

struct Rule {
  std::string id;
  std::string file;  // empty: a rule of the product
  RuleSeverity severity = RuleSeverity::hint;
  Bilingual title;
  Bilingual advice;
  Bilingual missing;  // data that it needs
  std::string source;
  std::map<std::string, double> thresholds;
  bool is_about_cluster = false;  // "scope": "cluster"; else about a capture
  bool is_advice = true;          // false: only in prof_rule_<device>.json
  std::optional<ProfRuleEntry> prof_rule;

  std::string table = "op_summary";
  Field name;
  Field time;
  Field evidence;  // columns that are shown, each one alone
  std::vector<Condition> where;
  GroupCondition group;
  std::optional<Sequence> sequence;
  std::optional<FactCondition> fact;
  std::string sql;
  std::string needs;  // a SELECT without rows: there is no data

  double value_of(const Limit& limit) const;
};

bool compare(double left, Comparator comparator, double right);
// Texts, without regard to the case of ASCII letters.
bool compare(std::string_view left, Comparator comparator, const std::vector<std::string>& right);

}  // namespace msprof
