#include "analyze/advise/sql_rule.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace msprof {

namespace {

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// `sql` with ":name" as "?1" and so on; `names` gets the thresholds in that order.
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
      throw Error(Exit::usage, fmt::format("its SQL has ':{}', which is no threshold of it",
                                           printable(names[i].substr(0, 40))));
    }
    statement.bind(static_cast<int>(i) + 1, threshold->second);
  }
  return statement;
}

void add(std::optional<double>& sum, std::optional<double> value) {
  if (value) sum = sum.value_or(0) + *value;
}

Evidence evidence_of(const Statement& row) {
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

}  // namespace

SqlAnswer ask(const QueryDb& db, const Rule& rule) {
  SqlAnswer answer;
  if (!rule.needs.empty()) {
    Statement needs = prepared(db, rule, rule.needs);
    answer.has_data = needs.step();
    if (!answer.has_data) return answer;
  }
  Statement rows = prepared(db, rule, rule.sql);
  while (rows.step()) {
    Evidence evidence = evidence_of(rows);
    const double times = static_cast<double>(evidence.count.value_or(1));
    ++answer.count;
    add(answer.time_us, evidence.time_us ? std::optional(*evidence.time_us * times) : std::nullopt);
    add(answer.share_percent, evidence.share_percent);
    if (answer.evidence.size() < kMostEvidence) answer.evidence.push_back(std::move(evidence));
  }
  return answer;
}

}  // namespace msprof
