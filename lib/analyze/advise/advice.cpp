#include "analyze/advise/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "analyze/advise/table_scan.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "query/query_db.hpp"

namespace msprof {

namespace {

// Result of an SQL rule.
struct SqlAnswer {
  bool has_data = true;
  bool reads_modelled = false;
  std::int64_t count = 0;  // number of rows
  std::optional<double> time_us;
  std::optional<double> share_percent;
  std::vector<Evidence> evidence;
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Replaces ":name" in `sql` by "?1", "?2", …; adds the threshold names to `names` in that order.
std::string numbered(std::string_view sql, std::vector<std::string>& names) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (quote != 0 || c != ':') {
      if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      }
      out += c;
      continue;
    }
    std::size_t end = i + 1;
    while (end < sql.size() && is_name_letter(sql[end])) ++end;
    names.emplace_back(sql.substr(i + 1, end - i - 1));
    out += fmt::format("?{}", names.size());
    i = end - 1;
  }
  return out;
}

Statement prepared(const QueryDb& db, const Rule& rule, std::string_view sql) {
  std::vector<std::string> names;
  Statement statement = db.ask(numbered(sql, names));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto threshold = rule.thresholds.find(names[i]);
    if (threshold == rule.thresholds.end()) {
      throw Error(Exit::usage,
                  fmt::format("its SQL uses ':{}', which is not a threshold of this rule",
                              printable(names[i].substr(0, 40))));
    }
    statement.bind(static_cast<int>(i) + 1, threshold->second);
  }
  return statement;
}

void add(std::optional<double>& sum, std::optional<double> value) {
  if (value) sum = sum.value_or(0) + *value;
}

Evidence make_evidence(const Statement& row) {
  Evidence evidence;
  for (int i = 0; i < row.column_count(); ++i) {
    const std::string column = row.column_name(i);
    const auto number = row.is_number(i) ? std::optional(row.real(i)) : std::nullopt;
    if (column == "name") {
      evidence.name = row.text(i);
    } else if (column == "time_us") {
      evidence.time_us = number;
    } else if (column == "share_percent") {
      evidence.share_percent = number;
    } else if (column == "count" && number) {
      evidence.count = row.integer(i);
    } else {
      evidence.values.push_back({column, number, number ? "" : std::string(row.text(i))});
    }
  }
  return evidence;
}

// Runs `needs` and `sql` of the rule with its thresholds bound (":share_percent"). Throws
// Error(usage) if the SQL is invalid.
SqlAnswer ask(const QueryDb& db, const Rule& rule) {
  SqlAnswer answer;
  if (!rule.needs.empty()) {
    Statement needs = prepared(db, rule, rule.needs);
    answer.reads_modelled = db.reads_modelled();
    answer.has_data = needs.step();
    if (!answer.has_data) return answer;
  }
  Statement rows = prepared(db, rule, rule.sql);
  answer.reads_modelled |= db.reads_modelled();
  while (rows.step()) {
    Evidence evidence = make_evidence(rows);
    const double times = static_cast<double>(evidence.count.value_or(1));
    ++answer.count;
    add(answer.time_us, evidence.time_us ? std::optional(*evidence.time_us * times) : std::nullopt);
    add(answer.share_percent, evidence.share_percent);
    if (answer.evidence.size() < kMaxEvidence) answer.evidence.push_back(std::move(evidence));
  }
  return answer;
}

// Values for the {name} placeholders in a rule's texts.
using Placeholders = std::map<std::string, std::string, std::less<>>;

std::string filled(const std::string& text, const Placeholders& words) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
    const auto word = end == std::string::npos
                          ? words.end()
                          : words.find(std::string_view(text).substr(i + 1, end - i - 1));
    if (word == words.end()) {
      out += text[i];
    } else {
      out += word->second;
      i = end;
    }
  }
  return out;
}

std::string joined_patterns(const RuleMatches& matches) {
  std::string text;
  for (const auto& [name, count] : matches.patterns) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Prepares a name from the capture for use in a title.
std::string title_word(std::string_view name) {
  constexpr int kWidest = 100;
  return shorten(printable(name), kWidest);
}

Placeholders threshold_words(const Rule& rule) {
  Placeholders words;
  for (const auto& [name, value] : rule.thresholds) words["$" + name] = number_text(value);
  return words;
}

// Fills the texts of a finding; its numbers must be set.
void fill_texts(AdviceFinding& finding, Placeholders words) {
  const Rule& rule = *finding.rule;
  words["count"] = std::to_string(finding.count);
  if (finding.time_us) words["time"] = fmt::format("{:.1f}", *finding.time_us);
  if (finding.share_percent) words["share"] = fmt::format("{:.1f}", *finding.share_percent);
  words.merge(threshold_words(rule));
  if (!finding.evidence.empty()) {
    words["name"] = title_word(finding.evidence.front().name);
    for (const EvidenceValue& value : finding.evidence.front().values)
      words[value.name] = value.number ? number_text(*value.number) : title_word(value.text);
  }
  finding.title = {filled(rule.title.en, words), filled(rule.title.zh, words)};
  finding.advice = {filled(rule.advice.en, words), filled(rule.advice.zh, words)};
}

Evidence make_evidence(const Rule& rule, const MatchedOp& op, double all_time_us) {
  Evidence evidence;
  evidence.name = op.name;
  const auto count = static_cast<double>(op.count);
  if (op.count > 1) evidence.count = op.count;
  evidence.time_us = op.time_us / count;
  evidence.share_percent = percent(op.time_us, all_time_us);
  for (std::size_t i = 0; i < op.cells.size(); ++i) {
    const MatchedOp::Cell& cell = op.cells[i];
    if (cell.count > 0) {
      evidence.values.push_back({rule.evidence[i], cell.sum / static_cast<double>(cell.count), {}});
    } else if (!cell.text.empty() && cell.text != "N/A") {
      evidence.values.push_back({rule.evidence[i], std::nullopt, cell.text});
    }
  }
  return evidence;
}

AdviceFinding make_finding(const Rule& rule, RuleMatches matches) {
  AdviceFinding finding;
  finding.rule = &rule;
  finding.count = matches.count;
  finding.is_per_execution = matches.is_mean;
  const auto documents = static_cast<double>(std::max<std::int64_t>(1, matches.documents));
  if (matches.all_time_us > 0) {
    finding.time_us = matches.is_mean ? matches.time_us / documents : matches.time_us;
    finding.share_percent = percent(matches.time_us, matches.all_time_us);
  }
  finding.evidence_count = matches.ops.size();
  const std::size_t most = std::min(kMaxEvidence, matches.ops.size());
  std::partial_sort(matches.ops.begin(), matches.ops.begin() + static_cast<std::ptrdiff_t>(most),
                    matches.ops.end(), [](const MatchedOp& a, const MatchedOp& b) {
                      return std::tie(b.time_us, a.name) < std::tie(a.time_us, b.name);
                    });
  for (std::size_t i = 0; i < most; ++i)
    finding.evidence.push_back(make_evidence(rule, matches.ops[i], matches.all_time_us));
  fill_texts(finding, {{"patterns", joined_patterns(matches)},
                       {"operators", std::to_string(matches.ops.size())}});
  return finding;
}

class Advisor {
 public:
  explicit Advisor(const std::vector<Rule>& rules) : rules_(rules) {}

  Advice run(const TraceDb& store) {
    advice_.unit_loads = read_unit_loads(store.database());
    advice_.layout_origin = read_layout_origin(store.database());
    if (!has_sql(false)) {
      by_table(store);
      return sorted();
    }
    // SQL rules run in parallel with the table rules, on a separate connection.
    const QueryDb db(store);
    Advisor asking(rules_);
    in_parallel([&] { by_table(store); }, [&] { asking.by_sql(db, false); });
    add(std::move(asking.advice_));
    return sorted();
  }

  Advice run(const cluster::Part& part) {
    std::string questions;
    for (const Rule& rule : rules_)
      if (is_asked(rule, true)) questions += rule.needs + '\n' + rule.sql + '\n';
    if (has_sql(true)) by_sql(QueryDb(part, questions), true);
    return sorted();
  }

 private:
  Advice sorted() {
    std::stable_sort(
        advice_.findings.begin(), advice_.findings.end(),
        [](const AdviceFinding& a, const AdviceFinding& b) { return rank(a) < rank(b); });
    return std::move(advice_);
  }

  void add(Advice other) {
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    };
    append(advice_.findings, other.findings);
    append(advice_.not_met, other.not_met);
    append(advice_.without_data, other.without_data);
  }

  static bool is_asked(const Rule& rule, bool of_cluster) {
    return rule.is_advice && !rule.sql.empty() && rule.is_about_cluster == of_cluster;
  }
  bool has_sql(bool of_cluster) const {
    return std::any_of(rules_.begin(), rules_.end(),
                       [&](const Rule& rule) { return is_asked(rule, of_cluster); });
  }

  static std::tuple<RuleSeverity, double, double> rank(const AdviceFinding& finding) {
    return {finding.rule->severity, -finding.share_percent.value_or(0),
            -finding.time_us.value_or(0)};
  }

  void no_data(const Rule& rule, const Bilingual& reason) {
    const Bilingual& text = rule.missing.en.empty() ? reason : rule.missing;
    const Placeholders words = threshold_words(rule);
    advice_.without_data.push_back({&rule, {filled(text.en, words), filled(text.zh, words)}});
  }

  void is_modelled(const Rule& rule, const Bilingual& what) {
    advice_.without_data.push_back(
        {&rule,
         {fmt::format("{} modelled by the host runtime, not measured", what.en),
          fmt::format("{}由主机运行时的模型给出,并非实测", what.zh)}});
  }

  void by_table(const TraceDb& store) {
    std::map<std::string, std::vector<const Rule*>> rules_of;
    for (const Rule& rule : rules_) {
      if (rule.is_advice && rule.sql.empty()) rules_of[rule.table].push_back(&rule);
    }
    for (const auto& [table, rules] : rules_of) {
      TableScanOptions options;
      options.facts = std::any_of(rules.begin(), rules.end(),
                                  [](const Rule* rule) { return rule->fact.has_value(); });
      TableScanResult found = scan_table(store.database(), table, rules, options);
      for (std::size_t i = 0; i < rules.size(); ++i) {
        const Rule& rule = *rules[i];
        if (rule.fact) {
          take_fact(rule, found.facts);
        } else if (!found.has_table) {
          no_data(rule,
                  {fmt::format("there is no table {}", table), fmt::format("没有表 {}", table)});
        } else {
          take_matches(rule, std::move(found.groups.front().matches[i]));
        }
      }
    }
  }

  void take_matches(const Rule& rule, RuleMatches matches) {
    if (!matches.no_data.empty()) {
      no_data(rule, {fmt::format("{} has no {}", rule.table, matches.no_data),
                     fmt::format("{} 中没有 {}", rule.table, matches.no_data)});
    } else if (!matches.modelled.empty()) {
      is_modelled(rule, {matches.modelled + " is", matches.modelled});
    } else if (is_met(rule, matches)) {
      advice_.findings.push_back(make_finding(rule, std::move(matches)));
    } else {
      advice_.not_met.push_back(&rule);
    }
  }

  // Adds one line of evidence per device for which the condition is true.
  void take_fact(const Rule& rule, std::map<std::string, ComputedFacts>& facts) {
    AdviceFinding finding;
    finding.rule = &rule;
    bool has_data = false;
    double value = 0;
    double time = 0;
    for (auto& [device, gathered] : facts) {
      const auto fact = gathered.value(rule.fact->name);
      if (!fact) continue;
      has_data = true;
      if (!compare(fact->value, rule.fact->comparator, rule.resolve_limit(rule.fact->limit)))
        continue;
      Evidence evidence;
      evidence.name = fmt::format("device {}", device);
      for (const auto& [name, number] : fact->numbers)
        evidence.values.push_back({name, number, {}});
      finding.evidence.push_back(std::move(evidence));
      value = std::max(value, fact->value);
      time += fact->time_us;
    }
    if (!has_data) return no_data(rule, {"no device has the required data", "没有设备有所需数据"});
    if (finding.evidence.empty()) return advice_.not_met.push_back(&rule);
    finding.evidence_count = finding.evidence.size();
    finding.count = static_cast<std::int64_t>(finding.evidence_count);
    finding.share_percent = value;
    finding.time_us = time;
    fill_texts(finding, {});
    advice_.findings.push_back(std::move(finding));
  }

  void by_sql(const QueryDb& db, bool of_cluster) {
    for (const Rule& rule : rules_) {
      if (is_asked(rule, of_cluster)) take_answer(rule, db);
    }
  }

  void take_answer(const Rule& rule, const QueryDb& db) {
    SqlAnswer answer;
    try {
      answer = ask(db, rule);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      if (error.code() == Exit::usage && !rule.file.empty()) {
        throw Error(Exit::usage,
                    fmt::format("{}: rule '{}': {}", rule.file, rule.id, error.what()));
      }
      // SQL for a table or column that this capture does not have is skipped; an unreadable store
      // is an error.
      if (error.code() != Exit::usage) throw;
      advice_.without_data.push_back({&rule, {error.what(), error.what()}});
      return;
    }
    if (!answer.has_data) return no_data(rule, {"its query returns no data", "查询没有数据"});
    if (answer.reads_modelled) return is_modelled(rule, {"unit loads are", "单元负载"});
    if (answer.count == 0) return advice_.not_met.push_back(&rule);
    AdviceFinding finding;
    finding.rule = &rule;
    finding.count = answer.count;
    finding.evidence_count = static_cast<std::size_t>(answer.count);
    finding.time_us = answer.time_us;
    finding.share_percent = answer.share_percent;
    finding.evidence = std::move(answer.evidence);
    fill_texts(finding, {});
    advice_.findings.push_back(std::move(finding));
  }

  const std::vector<Rule>& rules_;
  Advice advice_;
};

}  // namespace

Advice advise(const TraceDb& store, const std::vector<Rule>& rules) {
  return Advisor(rules).run(store);
}

Advice advise(const cluster::Part& part, const std::vector<Rule>& rules) {
  return Advisor(rules).run(part);
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "N/A";
  std::string text = fmt::format("{:.3f}", value);
  if (text.size() > 40) return fmt::format("{:.6g}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace msprof
