#include "analyze/compare/html_sections.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "analyze/compare/comparison_tables.hpp"
#include "analyze/compare/html_parts.hpp"
#include "analyze/compare/html_table.hpp"

namespace msprof::html {

namespace {

// Writes one cell of a comparison.
class HtmlCell {
 public:
  explicit HtmlCell(HtmlTable& out) : out_(out) {}

  void operator()(const cell::Names& names) const { out_.markup(join_names(names)); }
  void operator()(const std::string& text) const { out_.text(text); }
  void operator()(const cell::Word& word) const { out_.markup(word.text); }
  void operator()(bool value) const { out_.markup(value ? "yes" : "no"); }
  void operator()(std::int64_t count) const { out_.number(count); }
  void operator()(const cell::Counts& counts) const {
    if (counts.base == counts.now) return out_.number(counts.base);
    out_.markup(fmt::format("{} → {}", counts.base, counts.now));
  }
  void operator()(const cell::Real& real) const {
    const auto value = real.is_for_people ? real.value : std::nullopt;
    out_.number(real.has_sign ? signed_fixed(value, real.decimals) : fixed(value, real.decimals));
  }

 private:
  HtmlTable& out_;
};

std::string_view row_class(const OpRatio&) {
  return "ratio";
}
// A higher counter is neither better nor worse.
std::string_view row_class(const CounterChange& counter) {
  return counter.mean.is_noise() ? "noise" : "ratio";
}
template <typename Row>
std::string_view row_class(const Row& row) {
  return change_class(row.time.delta(), row.time.is_noise());
}

template <typename Row>
std::string table_html(std::string_view id, std::string caption, const Comparison& comparison,
                       const std::vector<Row>& rows,
                       std::span<const ComparisonColumn<Row>> columns) {
  HtmlTable table(std::string(id), std::move(caption),
                  "The {0} largest changes of {1}; msprof compare --csv and --json list all.");
  std::vector<std::string> titles;
  std::vector<CellKind> kinds;
  for (const auto& column : columns) {
    if (column.titles.html.empty()) continue;
    titles.emplace_back(column.titles.html);
    kinds.push_back(column.kind);
  }
  table.set_kinds(std::move(kinds));
  table.begin(titles);
  for (const Row& row : rows) {
    if (table.is_full()) break;
    table.begin_row(row_class(row));
    for (const auto& column : columns)
      if (!column.titles.html.empty())
        std::visit(HtmlCell(table), column.make_cell(row, comparison));
    table.end_row();
  }
  return table.html(rows.size());
}

}  // namespace

std::string ops_section(const Comparison& comparison) {
  std::string content = fmt::format("<p id=\"matches\">{}.</p>\n", comparison.matches.text());
  const std::string caption =
      fmt::format("Operators, us {}; grey: within noise", escaped(per_unit(comparison.unit)));
  content += comparison.ops.empty()
                 ? "<p>Neither BASE nor NEW has operators.</p>\n"
                 : table_html("ops", caption, comparison, comparison.ops, op_columns());
  return section("ops", "Operators", content);
}

std::string types_section(const Comparison& comparison) {
  if (comparison.types.empty()) return "";
  const std::string caption =
      fmt::format("Operator types, us {}", escaped(per_unit(comparison.unit)));
  return section("types", "Types",
                 table_html("types", caption, comparison, comparison.types, type_columns()));
}

std::string ratios_section(const Comparison& comparison) {
  const std::vector<OpRatio> ratios = list_ratios(comparison);
  if (ratios.empty()) return "";
  return section("ratios", "Changed ratios",
                 table_html("ratios", "Changed operator ratios and unit loads", comparison, ratios,
                            ratio_columns()));
}

std::string calls_section(const Comparison& comparison) {
  if (comparison.calls.empty()) return "";
  return section("calls", "Calls on the host",
                 table_html("calls", "Calls on the host, us per call", comparison, comparison.calls,
                            call_columns()));
}

std::string ranges_section(const Comparison& comparison) {
  if (comparison.ranges.empty()) return "";
  return section("ranges", "Ranges of the application",
                 table_html("ranges", "Ranges of the application, us per range", comparison,
                            comparison.ranges, range_columns()));
}

std::string counters_section(const Comparison& comparison) {
  if (comparison.counters.empty()) return "";
  return section("counters", "System counters",
                 table_html("counters", "System counters, means over the runs; grey: within noise",
                            comparison, comparison.counters, counter_columns()));
}

}  // namespace msprof::html
