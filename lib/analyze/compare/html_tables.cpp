#include "analyze/compare/html_tables.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "analyze/compare/html_text.hpp"

namespace msprof::html {

namespace {

// A browser sorts and scrolls so many without a pause.
constexpr std::size_t kMostRows = 1000;

enum class Cell { text, number, change };

struct Column {
  std::string_view title;
  Cell cell = Cell::number;
};

std::string_view class_of(const Column& column) {
  switch (column.cell) {
    case Cell::text:
      return "";
    case Cell::number:
      return " class=\"n\"";
    case Cell::change:
      break;
  }
  return " class=\"n change\"";
}

class TableHtml {
 public:
  TableHtml(std::string id, std::string caption, std::vector<Column> columns)
      : id_(std::move(id)), caption_(std::move(caption)), columns_(std::move(columns)) {}

  bool is_full() const { return rows_ >= kMostRows; }
  std::size_t rows() const { return rows_; }

  // Cells are HTML, as many as columns.
  void add(std::string_view kind, const std::vector<std::string>& cells) {
    ++rows_;
    body_ += fmt::format("<tr class=\"{}\"><th scope=\"row\">{}</th>", kind, cells[0]);
    for (std::size_t i = 1; i < cells.size(); ++i)
      body_ += fmt::format("<td{}>{}</td>", class_of(columns_[i]), cells[i]);
    body_ += "</tr>\n";
  }

  // `total`: rows that there are, of which the table may have less.
  std::string html(std::size_t total) const {
    std::string head;
    for (const Column& column : columns_)
      head += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), column.title);
    const std::string note = total <= rows_
                                 ? ""
                                 : fmt::format(
                                       "<p class=\"note\">The {} largest changes of {}; --csv and "
                                       "--json of msprof compare have all.</p>\n",
                                       rows_, total);
    return fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table id=\"{}\">"
        "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n{}",
        caption_, id_, caption_, head, body_, note);
  }

 private:
  std::string id_;
  std::string caption_;
  std::vector<Column> columns_;
  std::string body_;
  std::size_t rows_ = 0;
};

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  return fmt::format("<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n{}</section>\n",
                     id, id, title, content);
}

std::string_view match_text(const OpChange& op) {
  switch (op.matched_by) {
    case MatchedBy::name:
      return "name";
    case MatchedBy::shape:
      return "type, shape, order";
    case MatchedBy::fusion:
      return "fusion";
    case MatchedBy::unmatched:
      break;
  }
  return op.new_names.empty() ? "only in BASE" : "only in NEW";
}

std::string percent(const Change& change) {
  return signed_fixed(change.new_us ? change.percent() : std::nullopt, 1);
}

// A share of a change that is noise means nothing.
std::string share(const Comparison& comparison, double value) {
  return comparison.verdict == Verdict::noise ? "-" : fixed(value, 1);
}

std::string_view kind_of_change(const Change& change) {
  return kind_of(change.delta_us(), change.is_noise());
}

std::string counts_text(std::int64_t base, std::int64_t now) {
  return base == now ? std::to_string(base) : fmt::format("{} → {}", base, now);
}

// base, new, change, change in %, noise: what every table has of a time.
void add_time(std::vector<std::string>& cells, const Change& change) {
  cells.push_back(fixed(change.base_us));
  cells.push_back(fixed(change.new_us));
  cells.push_back(signed_fixed(change.delta_us()));
  cells.push_back(percent(change));
  cells.push_back(fixed(change.noise_us));
}

}  // namespace

std::string ops_section(const Comparison& comparison) {
  TableHtml table(
      "ops",
      fmt::format("Operators, us {}; grey: within noise", escaped(per_unit(comparison.unit))),
      {{"Operator", Cell::text},
       {"Base us"},
       {"New us"},
       {"Change us", Cell::change},
       {"Change %", Cell::change},
       {"Noise us"},
       {"Share %"},
       {"Count"},
       {"Type", Cell::text},
       {"Unit", Cell::text},
       {"Matched by", Cell::text}});
  for (const OpChange& op : comparison.ops) {
    if (table.is_full()) break;
    std::vector<std::string> cells = {op_name(op)};
    add_time(cells, op.time);
    cells.push_back(share(comparison, op.share));
    cells.push_back(counts_text(op.base_count, op.new_count));
    cells.push_back(op_type(op));
    cells.push_back(op.unit.empty() ? "-" : name(op.unit));
    cells.emplace_back(match_text(op));
    table.add(kind_of_change(op.time), cells);
  }
  const MatchCounts& counts = comparison.matches;
  std::string content = fmt::format(
      "<p id=\"matches\">{} matched by name, {} by type, shape and order, {} by fusion; {} only in "
      "BASE, {} only in NEW.</p>\n",
      counts.by_name, counts.by_shape, counts.by_fusion, counts.only_base, counts.only_new);
  content += comparison.ops.empty() ? "<p>No operator on either side.</p>\n"
                                    : table.html(comparison.ops.size());
  return section("ops", "Operators", content);
}

std::string types_section(const Comparison& comparison) {
  if (comparison.types.empty()) return "";
  TableHtml table("types",
                  fmt::format("Types of operators, us {}", escaped(per_unit(comparison.unit))),
                  {{"Type", Cell::text},
                   {"Base us"},
                   {"New us"},
                   {"Change us", Cell::change},
                   {"Change %", Cell::change},
                   {"Noise us"},
                   {"Share %"},
                   {"Operators"}});
  for (const TypeChange& type : comparison.types) {
    if (table.is_full()) break;
    std::vector<std::string> cells = {name(type.type)};
    add_time(cells, type.time);
    cells.push_back(share(comparison, type.share));
    cells.push_back(counts_text(type.base_ops, type.new_ops));
    table.add(kind_of_change(type.time), cells);
  }
  return section("types", "Types", table.html(comparison.types.size()));
}

std::string ratios_section(const Comparison& comparison) {
  TableHtml table(
      "ratios", "Ratios and loads of operators that moved",
      {{"Operator", Cell::text}, {"Ratio", Cell::text}, {"Base"}, {"New"}, {"Difference"}});
  std::size_t total = 0;
  for (const OpChange& op : comparison.ops) {
    for (const RatioChange& ratio : op.ratios) {
      ++total;
      if (table.is_full()) continue;
      table.add("ratio", {op_name(op), name(ratio.name), fixed(ratio.base), fixed(ratio.now),
                          signed_fixed(ratio.now - ratio.base)});
    }
  }
  return total == 0 ? "" : section("ratios", "Ratios that moved", table.html(total));
}

std::string calls_section(const Comparison& comparison) {
  if (comparison.calls.empty()) return "";
  TableHtml table("calls", "Calls on the host, us of one call",
                  {{"Call", Cell::text},
                   {"Base us"},
                   {"New us"},
                   {"Change us", Cell::change},
                   {"Change %", Cell::change},
                   {"Noise us"},
                   {"Count"}});
  for (const CallChange& call : comparison.calls) {
    if (table.is_full()) break;
    std::vector<std::string> cells = {name(call.name)};
    add_time(cells, call.time);
    cells.push_back(counts_text(call.base_count, call.new_count));
    table.add(kind_of_change(call.time), cells);
  }
  return section("calls", "Calls on the host", table.html(comparison.calls.size()));
}

}  // namespace msprof::html
