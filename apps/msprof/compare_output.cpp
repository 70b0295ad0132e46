// Prints a Comparison as text, JSON and CSV.
#include "msprof/compare_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "analyze/compare/comparison_tables.hpp"
#include "analyze/compare/run_profile.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "base/words.hpp"
#include "export/table/table_writers.hpp"
#include "msprof/json_values.hpp"

namespace msprof {

namespace {

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  return fmt::format("{}", fmt::join(names, between));
}

// Returns "mish → leaky_relu", "mish", or the names of the captures.
std::string what_was_compared(const Comparison& comparison) {
  std::string base = joined(comparison.base.models, " + ");
  std::string now = joined(comparison.now.models, " + ");
  if (base.empty() || now.empty()) {
    base = joined(comparison.base.captures, ", ");
    now = joined(comparison.now.captures, ", ");
  }
  return join_both(base, now);
}

class PlainCell {
 public:
  // `is_terminal`: output for people instead of programs.
  PlainCell(RowBuilder& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}

  void operator()(const cell::Names& names) const { out_.text(names.joined()); }
  void operator()(const std::string& text) const {
    if (text.empty() && is_terminal_) return out_.missing();
    out_.text(text);
  }
  void operator()(const cell::Word& word) const { out_.text(word.text); }
  void operator()(bool value) const { out_.text(value ? "yes" : "no"); }
  void operator()(std::int64_t count) const { out_.number(count); }
  void operator()(const cell::Counts& counts) const {
    out_.text(fmt::format("{} → {}", counts.base, counts.now));
  }
  void operator()(const cell::Real& real) const {
    if (!real.value || (is_terminal_ && !real.is_for_people)) return out_.missing();
    out_.number(is_terminal_ ? real.text() : fmt::format("{:.3f}", *real.value));
  }

 private:
  RowBuilder& out_;
  bool is_terminal_;
};

// A terminal table that is filled row by row.
template <typename Row>
class ShownChanges {
 public:
  ShownChanges(const Comparison& comparison, std::span<const ComparisonColumn<Row>> columns)
      : comparison_(comparison) {
    std::vector<std::string> titles;
    std::vector<bool> numbers;
    for (const auto& column : columns) {
      if (column.titles.terminal.empty()) continue;
      columns_.push_back(&column);
      titles.emplace_back(column.titles.terminal);
      numbers.push_back(column.kind != CellKind::text);
    }
    table_ = TextTable(std::move(titles), std::move(numbers));
  }

  void add(const Row& row) {
    for (const auto* column : columns_)
      std::visit(PlainCell(cells_, true), column->make_cell(row, comparison_));
    cells_.end_row();
  }
  const TextTable& table() const { return table_; }

 private:
  const Comparison& comparison_;
  std::vector<const ComparisonColumn<Row>*> columns_;
  TextTable table_;
  RowBuilder cells_{table_};
};

class Report {
 public:
  Report(const Comparison& comparison, const TextStyle& style)
      : comparison_(comparison), style_(style) {}

  std::string text() {
    headline();
    for (const ComparisonWarning& warning : comparison_.warnings)
      line(fmt::format("warning: {}", printable(warning.shown())));
    side("BASE", comparison_.base);
    side("NEW ", comparison_.now);
    line(fmt::format("operators: {}", comparison_.matches.text()));
    line(fmt::format("noise: up to {:.3f} ms ({:.1f} %), {}", comparison_.total.noise / 1000,
                     part(comparison_.total.noise), printable(comparison_.noise_basis)));
    ops();
    types();
    ratios();
    calls();
    ranges();
    counters();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  double part(double us) const {
    const double base = comparison_.total.base.value_or(0);
    return base > 0 ? 100 * us / base : 0;
  }

  void headline() {
    const Change& total = comparison_.total;
    const double percent = total.percent().value_or(0);
    std::string verdict = fmt::format("{:.1f} % {}", std::abs(percent),
                                      comparison_.verdict == Verdict::faster ? "faster" : "slower");
    if (comparison_.verdict == Verdict::noise) {
      verdict = fmt::format("{:+.1f} %, which is noise", percent);
      if (total.delta() == 0) verdict = "no change";
    }
    line(fmt::format("{}: {:.3f} → {:.3f} ms {}, {}", printable(what_was_compared(comparison_)),
                     total.base.value_or(0) / 1000, total.now.value_or(0) / 1000,
                     per_unit(comparison_.unit), verdict));
  }

  void side(std::string_view name, const ComparedSide& side) {
    std::string text = fmt::format("{}  {}", name, printable(joined(side.captures, ", ")));
    const auto unit = counted_unit(comparison_.unit);
    if (!unit.empty()) text += ": " + counted(static_cast<std::uint64_t>(side.executions), unit);
    if (side.pictures && !unit.empty())
      text += ", " + counted(static_cast<std::uint64_t>(*side.pictures), "picture");
    if (!side.chip.empty()) text += ", " + printable(side.chip);
    if (side.frequency_mhz) text += fmt::format(", {:g} MHz", *side.frequency_mhz);
    if (!side.batches.empty()) text += ", batch " + batch_text(side.batches);
    if (side.devices > 1) text += fmt::format(", {} devices", side.devices);
    line(text);
    for (const std::string& run : side.runs) line(fmt::format("      {}", printable(run)));
    if (side.unit_loads == UnitLoads::modelled) line(fmt::format("      {}", kModelledNote));
    if (side.layout_origin == LayoutOrigin::inferred) line(fmt::format("      {}", kInferredNote));
  }

  void table(std::string_view title, const TextTable& table, std::string_view rest) {
    out_ += fmt::format("\n{}\n", title);
    if (table.row_count() > 0) out_ += table.render(style_.width, style_.bold);
    if (!rest.empty()) line(std::string(rest));
  }

  // Returns true if a change gets a row: noise does not, but fused operators always do, whatever
  // their time.
  template <typename AnyChange>
  static bool has_row(const AnyChange& change) {
    return !change.time.is_noise();
  }
  static bool has_row(const CounterChange& counter) { return !counter.mean.is_noise(); }
  static bool has_row(const OpChange& op) {
    return !op.time.is_noise() || op.matched_by == MatchedBy::fusion;
  }

  // Adds rows for changes beyond noise, up to the limit; returns a note about the omitted ones.
  template <typename Row>
  std::string add_changed(const std::vector<Row>& changes, std::string_view what,
                          ShownChanges<Row>& shown) const {
    std::size_t changed = 0;
    for (const Row& change : changes) {
      if (!has_row(change)) continue;
      if (changed++ < style_.top) shown.add(change);
    }
    std::vector<std::string> rest;
    if (changed > style_.top)
      rest.push_back(fmt::format("{} more changes (shown with --top)", changed - style_.top));
    if (changed == 0) rest.push_back(fmt::format("no {} changed beyond noise", what));
    const std::size_t within = changes.size() - changed;
    if (within > 0) rest.push_back(fmt::format("{} within noise", within));
    return fmt::format("{}", fmt::join(rest, "; "));
  }

  void ops() {
    ShownChanges<OpChange> shown(comparison_, op_columns());
    const auto rest = add_changed(comparison_.ops, "operator", shown);
    table(fmt::format("Operators, {}", per_unit(comparison_.unit)), shown.table(), rest);
  }

  void types() {
    ShownChanges<TypeChange> shown(comparison_, type_columns());
    const auto rest = add_changed(comparison_.types, "type", shown);
    if (shown.table().row_count() > 0) table("Operator types", shown.table(), rest);
  }

  void ratios() {
    ShownChanges<OpRatio> shown(comparison_, ratio_columns());
    const std::vector<OpRatio> moved = list_ratios(comparison_);
    if (moved.empty()) return;
    const std::size_t most = std::min(moved.size(), style_.top);
    for (std::size_t i = 0; i < most; ++i) shown.add(moved[i]);
    table("Changed ratios", shown.table(),
          moved.size() > most ? fmt::format("{} more moved", moved.size() - most) : "");
  }

  // The call with the most time, which executes the model, is always shown.
  const CallChange* find_main_call() const {
    const CallChange* most = nullptr;
    double most_us = 0;
    for (const CallChange& call : comparison_.calls) {
      const double us = std::max(call.time.base.value_or(0) * double(call.base_count),
                                 call.time.now.value_or(0) * double(call.new_count));
      if (us <= most_us) continue;
      most = &call;
      most_us = us;
    }
    return most;
  }

  void calls() {
    if (comparison_.calls.empty()) return;
    ShownChanges<CallChange> shown(comparison_, call_columns());
    const CallChange* most = find_main_call();
    if (most != nullptr && most->time.is_noise()) shown.add(*most);
    const auto rest = add_changed(comparison_.calls, "call", shown);
    table("Host calls, per call", shown.table(), rest);
  }

  void ranges() {
    ShownChanges<CallChange> shown(comparison_, range_columns());
    const auto rest = add_changed(comparison_.ranges, "range", shown);
    if (!comparison_.ranges.empty()) table("Application ranges, per range", shown.table(), rest);
  }

  void counters() {
    if (comparison_.counters.empty()) return;
    ShownChanges<CounterChange> shown(comparison_, counter_columns());
    const auto rest = add_changed(comparison_.counters, "counter", shown);
    table("System counters, mean over the run", shown.table(), rest);
  }

  const Comparison& comparison_;
  TextStyle style_;
  std::string out_;
};

using msprof::as_json;
using nlohmann::ordered_json;

ordered_json as_json(const ComparedSide& side) {
  return {{"captures", as_json(side.captures)},
          {"runs", as_json(side.runs)},
          {"chip", as_json(side.chip)},
          {"frequency_mhz", as_json(side.frequency_mhz)},
          {"unit_loads", unit_loads_name(side.unit_loads)},
          {"layout_origin", layout_origin_name(side.layout_origin)},
          {"models", as_json(side.models)},
          {"batches", side.batches},
          {"devices", side.devices},
          {"executions", side.executions},
          {"pictures", as_json(side.pictures)}};
}

template <typename Number>
requires std::is_arithmetic_v<Number> ordered_json as_json(Number value) {
  return value;
}
ordered_json as_json(const cell::Names& names) {
  return as_json(names.base);
}
ordered_json as_json(const cell::Word& word) {
  return word.text;
}
ordered_json as_json(const cell::Counts& counts) {
  return {counts.base, counts.now};
}
ordered_json as_json(const cell::Real& real) {
  return as_json(real.value);
}

template <typename Row>
ordered_json json_row(std::span<const ComparisonColumn<Row>> columns, const Row& row,
                      const Comparison& comparison) {
  ordered_json object;
  for (const auto& column : columns) {
    if (column.titles.json.empty()) continue;
    object[std::string(column.titles.json)] =
        std::visit([](const auto& value) -> ordered_json { return as_json(value); },
                   column.make_cell(row, comparison));
  }
  return object;
}

template <typename Row>
void write_csv(CsvWriter& csv, std::span<const ComparisonColumn<Row>> columns,
               const std::vector<Row>& rows, const Comparison& comparison) {
  std::vector<std::string> titles;
  for (const auto& column : columns)
    if (!column.titles.csv.empty()) titles.emplace_back(column.titles.csv);
  csv.begin(titles);
  RowBuilder cells(csv);
  for (const Row& row : rows) {
    for (const auto& column : columns)
      if (!column.titles.csv.empty())
        std::visit(PlainCell(cells, false), column.make_cell(row, comparison));
    cells.end_row();
  }
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
  return Report(comparison, style).text();
}

void add_comparison(const Comparison& comparison, ordered_json& document) {
  document["base"] = as_json(comparison.base);
  document["new"] = as_json(comparison.now);
  document["warnings"] = ordered_json::array();
  for (const ComparisonWarning& warning : comparison.warnings) {
    document["warnings"].push_back(
        {{"text", as_json(warning.text)},
         {"id", warning.id ? ordered_json(finding_info(*warning.id).id) : ordered_json()}});
  }
  document["unit"] = comparison.unit;
  document["noise_basis"] = comparison.noise_basis;
  document["verdict"] = verdict_name(comparison.verdict);
  const Change& total = comparison.total;
  document["total"] = {{"base_us", as_json(total.base)}, {"new_us", as_json(total.now)},
                       {"delta_us", total.delta()},      {"percent", as_json(total.percent())},
                       {"noise_us", total.noise},        {"is_noise", total.is_noise()}};
  const MatchCounts& counts = comparison.matches;
  document["matches"] = {{"by_name", counts.by_name},
                         {"by_shape", counts.by_shape},
                         {"by_fusion", counts.by_fusion},
                         {"only_base", counts.only_base},
                         {"only_new", counts.only_new}};
  document["ops"] = ordered_json::array();
  for (const OpChange& op : comparison.ops) {
    ordered_json one = json_row(op_columns(), op, comparison);
    one["ratios"] = ordered_json::array();
    for (const RatioChange& ratio : op.ratios)
      one["ratios"].push_back(json_row(ratio_columns(), OpRatio{&op, &ratio}, comparison));
    document["ops"].push_back(std::move(one));
  }
  document["types"] = ordered_json::array();
  for (const TypeChange& type : comparison.types)
    document["types"].push_back(json_row(type_columns(), type, comparison));
  document["calls"] = ordered_json::array();
  for (const CallChange& call : comparison.calls)
    document["calls"].push_back(json_row(call_columns(), call, comparison));
  document["ranges"] = ordered_json::array();
  for (const CallChange& range : comparison.ranges)
    document["ranges"].push_back(json_row(range_columns(), range, comparison));
  document["counters"] = ordered_json::array();
  for (const CounterChange& counter : comparison.counters)
    document["counters"].push_back(json_row(counter_columns(), counter, comparison));
}

std::string comparison_csv(const Comparison& comparison, bool excel) {
  MemoryOutput out;
  CsvWriter csv(out);
  if (excel) csv.write_for_excel();
  write_csv(csv, op_columns(), comparison.ops, comparison);
  if (comparison.counters.empty()) return std::move(out.buffer());
  out.buffer() += "\n";
  write_csv(csv, counter_columns(), comparison.counters, comparison);
  return std::move(out.buffer());
}

}  // namespace msprof
