#include "analyze/compare/comparison_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

namespace msprof {

namespace {

using cell::Counts;
using cell::Names;
using cell::Real;
using cell::Word;
using enum CellKind;

// Returns the (possibly joined) name as a list; empty if there is none.
std::vector<std::string> one_name(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : std::vector<std::string>{text};
}

// Columns about the change, which all tables have.
template <typename Row>
const Change& change_in(const Row& row) {
  return row.time;
}
const Change& change_in(const CounterChange& counter) {
  return counter.mean;
}
template <typename Row>
ComparisonCell base_value(const Row& row, const Comparison&) {
  return Real{change_in(row).base};
}
template <typename Row>
ComparisonCell new_value(const Row& row, const Comparison&) {
  return Real{change_in(row).now};
}
template <typename Row>
ComparisonCell delta(const Row& row, const Comparison&) {
  return Real{change_in(row).delta(), 3, true};
}
template <typename Row>
ComparisonCell percent(const Row& row, const Comparison&) {
  return Real{change_in(row).percent(), 1, true, change_in(row).now.has_value()};
}
template <typename Row>
ComparisonCell noise(const Row& row, const Comparison&) {
  return Real{change_in(row).noise};
}
template <typename Row>
ComparisonCell is_noise(const Row& row, const Comparison&) {
  return change_in(row).is_noise();
}
// If the total change is noise, a share of it is meaningless.
template <typename Row>
ComparisonCell share(const Row& row, const Comparison& comparison) {
  return Real{row.share, 1, false, comparison.verdict != Verdict::noise};
}

template <auto kMember, typename Row>
ComparisonCell field(const Row& row, const Comparison&) {
  return row.*kMember;
}
template <auto kNames, typename Row>
ComparisonCell names_of_one(const Row& row, const Comparison&) {
  return Names{row.*kNames, {}};
}
template <auto kBase, auto kNew, typename Row>
ComparisonCell counts(const Row& row, const Comparison&) {
  return Counts{row.*kBase, row.*kNew};
}

ComparisonCell op_names(const OpChange& op, const Comparison&) {
  return Names{op.base_names, op.new_names};
}
ComparisonCell op_types(const OpChange& op, const Comparison&) {
  return Names{one_name(op.base_type), one_name(op.new_type)};
}
ComparisonCell op_unit(const OpChange& op, const Comparison&) {
  return Names{one_name(op.unit), {}};
}
ComparisonCell match_for_programs(const OpChange& op, const Comparison&) {
  return Word{match_name(op.matched_by)};
}
// The terminal also lists fusions whose change is noise.
ComparisonCell match_in_terminal(const OpChange& op, const Comparison&) {
  const bool is_noise = op.matched_by == MatchedBy::fusion && op.time.is_noise();
  return Word{is_noise ? "fusion, noise" : op.match()};
}
ComparisonCell match_in_report(const OpChange& op, const Comparison&) {
  return Word{op.match()};
}

ComparisonCell ratio_op(const OpRatio& of, const Comparison& comparison) {
  return op_names(*of.op, comparison);
}
ComparisonCell ratio_name(const OpRatio& of, const Comparison&) {
  return of.ratio->name;
}
ComparisonCell ratio_base(const OpRatio& of, const Comparison&) {
  return Real{of.ratio->base};
}
ComparisonCell ratio_now(const OpRatio& of, const Comparison&) {
  return Real{of.ratio->now};
}
ComparisonCell ratio_difference(const OpRatio& of, const Comparison&) {
  return Real{of.ratio->now - of.ratio->base, 3, true};
}

ComparisonCell call_noise(const CallChange& call, const Comparison&) {
  return Word{call.time.is_noise() ? "noise" : ""};
}

// Returns `first`, the columns about time, and `last`. An output that needs another order or split
// has its own column entry.
template <typename Row>
std::vector<ComparisonColumn<Row>> around_time(std::span<const ComparisonColumn<Row>> first,
                                               std::span<const ComparisonColumn<Row>> last) {
  const ComparisonColumn<Row> time[] = {
      {number, {"Base(us)", "Base Time(us)", "base_us", "Base us"}, base_value},
      {number, {"New(us)", "New Time(us)", "new_us", "New us"}, new_value},
      {change, {"Delta(us)", "Delta(us)", "delta_us", "Change us"}, delta},
      {change, {"Change(%)", "Change(%)", "percent", "Change %"}, percent},
      {number, {.csv = "Noise(us)", .json = "noise_us", .html = "Noise us"}, noise},
      {text, {.csv = "Is Noise", .json = "is_noise"}, is_noise},
  };
  std::vector<ComparisonColumn<Row>> columns(first.begin(), first.end());
  columns.insert(columns.end(), std::begin(time), std::end(time));
  columns.insert(columns.end(), last.begin(), last.end());
  return columns;
}

// The tables of calls and of ranges differ only in the title of the column of names.
std::vector<ComparisonColumn<CallChange>> call_columns_titled(std::string_view title) {
  const ComparisonColumn<CallChange> first[] = {
      {text, {.terminal = title, .json = "name", .html = title}, field<&CallChange::name>},
      {number, {.terminal = "Base Count", .json = "base_count"}, field<&CallChange::base_count>},
      {number, {.terminal = "New Count", .json = "new_count"}, field<&CallChange::new_count>},
  };
  const ComparisonColumn<CallChange> last[] = {
      {text, {.terminal = "Noise"}, call_noise},
      {number, {.html = "Count"}, counts<&CallChange::base_count, &CallChange::new_count>},
  };
  return around_time<CallChange>(first, last);
}

constexpr ComparisonColumn<OpRatio> kRatioColumns[] = {
    {text, {.terminal = "Operator", .html = "Operator"}, ratio_op},
    {text, {.terminal = "Ratio", .json = "name", .html = "Ratio"}, ratio_name},
    {number, {.terminal = "Base", .json = "base", .html = "Base"}, ratio_base},
    {number, {.terminal = "New", .json = "new", .html = "New"}, ratio_now},
    {number, {.html = "Difference"}, ratio_difference},
};

constexpr ComparisonColumn<CounterChange> kCounterColumns[] = {
    {text, {"Counter", "Counter", "name", "Counter"}, field<&CounterChange::name>},
    {text, {"Of", "Of", "device", "Of"}, field<&CounterChange::device>},
    {text, {.csv = "Kind", .json = "kind", .html = "Kind"}, field<&CounterChange::kind>},
    {text, {"Unit", "Unit", "unit", "Unit"}, field<&CounterChange::unit>},
    {number, {"Base", "Base", "base", "Base"}, base_value},
    {number, {"New", "New", "new", "New"}, new_value},
    {change, {"Delta", "Delta", "delta", "Change"}, delta},
    {change, {"Change(%)", "Change(%)", "percent", "Change %"}, percent},
    {number, {.csv = "Noise", .json = "noise", .html = "Noise"}, noise},
    {text, {.csv = "Is Noise", .json = "is_noise"}, is_noise},
    {number,
     {.html = "Samples"},
     counts<&CounterChange::base_samples, &CounterChange::new_samples>},
    {number, {.csv = "Base Samples", .json = "base_samples"}, field<&CounterChange::base_samples>},
    {number, {.csv = "New Samples", .json = "new_samples"}, field<&CounterChange::new_samples>},
};

std::string names_text(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace

std::string cell::Names::joined() const {
  return join_both(names_text(base), names_text(now));
}

std::string cell::Real::text() const {
  return has_sign ? fmt::format("{:+.{}f}", value.value_or(0), decimals)
                  : fmt::format("{:.{}f}", value.value_or(0), decimals);
}

std::vector<OpRatio> list_ratios(const Comparison& comparison) {
  std::vector<OpRatio> all;
  for (const OpChange& op : comparison.ops)
    for (const RatioChange& ratio : op.ratios) all.push_back({&op, &ratio});
  return all;
}

std::span<const ComparisonColumn<OpChange>> op_columns() {
  static constexpr ComparisonColumn<OpChange> kFirst[] = {
      {text, {.terminal = "Operator", .html = "Operator"}, op_names},
      {text, {.terminal = "Type"}, op_types},
      {text, {.csv = "Base Op", .json = "base_names"}, names_of_one<&OpChange::base_names>},
      {text, {.csv = "New Op", .json = "new_names"}, names_of_one<&OpChange::new_names>},
      {text, {.csv = "Base Type", .json = "base_type"}, field<&OpChange::base_type>},
      {text, {.csv = "New Type", .json = "new_type"}, field<&OpChange::new_type>},
      {text, {.csv = "Unit", .json = "unit"}, field<&OpChange::unit>},
      {text, {.csv = "Matched By", .json = "matched_by"}, match_for_programs},
  };
  static constexpr ComparisonColumn<OpChange> kLast[] = {
      {number, {.terminal = "Share(%)", .csv = "Share(%)", .html = "Share %"}, share},
      {number, {.html = "Count"}, counts<&OpChange::base_count, &OpChange::new_count>},
      {number, {.csv = "Base Count", .json = "base_count"}, field<&OpChange::base_count>},
      {number, {.csv = "New Count", .json = "new_count"}, field<&OpChange::new_count>},
      {number, {.json = "share"}, share},
      {text, {.html = "Type"}, op_types},
      {text, {.html = "Unit"}, op_unit},
      {text, {.html = "Matched by"}, match_in_report},
      {text, {.terminal = "Match"}, match_in_terminal},
  };
  static const auto columns = around_time<OpChange>(kFirst, kLast);
  return columns;
}
std::span<const ComparisonColumn<TypeChange>> type_columns() {
  static constexpr ComparisonColumn<TypeChange> kFirst[] = {
      {text, {.terminal = "Type", .json = "type", .html = "Type"}, field<&TypeChange::type>},
      {number, {.terminal = "Base Ops", .json = "base_ops"}, field<&TypeChange::base_ops>},
      {number, {.terminal = "New Ops", .json = "new_ops"}, field<&TypeChange::new_ops>},
  };
  static constexpr ComparisonColumn<TypeChange> kLast[] = {
      {number, {.terminal = "Share(%)", .json = "share", .html = "Share %"}, share},
      {number, {.html = "Operators"}, counts<&TypeChange::base_ops, &TypeChange::new_ops>},
  };
  static const auto columns = around_time<TypeChange>(kFirst, kLast);
  return columns;
}
std::span<const ComparisonColumn<OpRatio>> ratio_columns() {
  return kRatioColumns;
}
std::span<const ComparisonColumn<CallChange>> call_columns() {
  static const auto columns = call_columns_titled("Call");
  return columns;
}
std::span<const ComparisonColumn<CallChange>> range_columns() {
  static const auto columns = call_columns_titled("Range");
  return columns;
}
std::span<const ComparisonColumn<CounterChange>> counter_columns() {
  return kCounterColumns;
}

}  // namespace msprof
