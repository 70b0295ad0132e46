#include "msprof/compare_output.hpp"

// A Comparison as JSON and as CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/compare/run_profile.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "base/words.hpp"
#include "export/table_writers.hpp"

namespace msprof {

namespace {

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  return fmt::format("{}", fmt::join(names, between));
}

std::string us_cell(std::optional<double> us) {
  return us ? fmt::format("{:.3f}", *us) : "-";
}
std::string delta_cell(const Change& change) {
  return fmt::format("{:+.3f}", change.delta_us());
}
std::string percent_cell(const Change& change) {
  const auto percent = change.new_us ? change.percent() : std::nullopt;
  return percent ? fmt::format("{:+.1f}", *percent) : "-";
}

std::string op_cell(const OpChange& op) {
  const std::string base = joined(op.base_names, "+"), now = joined(op.new_names, "+");
  if (base.empty() || now.empty() || base == now) return base.empty() ? now : base;
  return base + " → " + now;
}
std::string type_cell(const OpChange& op) {
  if (op.base_type.empty() || op.new_type.empty() || op.base_type == op.new_type)
    return op.base_type.empty() ? op.new_type : op.base_type;
  return op.base_type + " → " + op.new_type;
}
std::string_view matched_cell(const OpChange& op) {
  switch (op.matched_by) {
    case MatchedBy::name:
      return "name";
    case MatchedBy::shape:
      return "type";
    case MatchedBy::fusion:
      return op.time.is_noise() ? "fusion, noise" : "fusion";
    case MatchedBy::unmatched:
      break;
  }
  return op.new_names.empty() ? "only BASE" : "only NEW";
}

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
    matches();
    line(fmt::format("noise: up to {:.3f} ms ({:.1f} %), {}", comparison_.total.noise_us / 1000,
                     part(comparison_.total.noise_us), printable(comparison_.noise_basis)));
    ops();
    types();
    ratios();
    calls();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  double part(double us) const {
    const double base = comparison_.total.base_us.value_or(0);
    return base > 0 ? 100 * us / base : 0;
  }

  void headline() {
    const Change& total = comparison_.total;
    const double percent = total.percent().value_or(0);
    std::string verdict = fmt::format("{:.1f} % {}", std::abs(percent),
                                      comparison_.verdict == Verdict::faster ? "faster" : "slower");
    if (comparison_.verdict == Verdict::noise) {
      verdict = fmt::format("{:+.1f} %, which is noise", percent);
      if (total.delta_us() == 0) verdict = "no change";
    }
    line(fmt::format("{}: {:.3f} → {:.3f} ms {}, {}", printable(what_was_compared(comparison_)),
                     total.base_us.value_or(0) / 1000, total.new_us.value_or(0) / 1000,
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
  }

  void matches() {
    const MatchCounts& counts = comparison_.matches;
    line(fmt::format(
        "operators: {} matched by name, {} by type and shape, {} by fusion;"
        " {} only in BASE, {} only in NEW",
        counts.by_name, counts.by_shape, counts.by_fusion, counts.only_base, counts.only_new));
  }

  // A share of a change that is noise means nothing.
  std::string share_cell(double share) const {
    return comparison_.verdict == Verdict::noise ? "-" : fmt::format("{:.1f}", share);
  }

  void table(std::string_view title, const TextTable& table, std::string_view rest) {
    out_ += fmt::format("\n{}\n", title);
    if (table.row_count() > 0) out_ += table.render(style_.width, style_.bold);
    if (!rest.empty()) line(std::string(rest));
  }

  // Whether a change has a row: noise has none, but what was fused is no chance, whatever it took.
  template <typename AnyChange>
  static bool has_row(const AnyChange& change) {
    return !change.time.is_noise();
  }
  static bool has_row(const OpChange& op) {
    return !op.time.is_noise() || op.matched_by == MatchedBy::fusion;
  }

  // Adds the rows that changed beyond noise by `add`, as many as wanted; says what is not shown.
  template <typename Changes, typename Add>
  std::string add_changed(const Changes& changes, std::string_view what, Add&& add) const {
    std::size_t changed = 0;
    for (const auto& change : changes) {
      if (!has_row(change)) continue;
      if (changed++ < style_.top) add(change);
    }
    std::vector<std::string> rest;
    if (changed > style_.top)
      rest.push_back(fmt::format("{} more changed (--top shows them)", changed - style_.top));
    if (changed == 0) rest.push_back(fmt::format("no {} changed beyond noise", what));
    const std::size_t within = changes.size() - changed;
    if (within > 0) rest.push_back(fmt::format("{} within noise", within));
    return fmt::format("{}", fmt::join(rest, "; "));
  }

  void ops() {
    TextTable text(
        {"Operator", "Type", "Base(us)", "New(us)", "Delta(us)", "Change(%)", "Share(%)", "Match"});
    const auto rest = add_changed(comparison_.ops, "operator", [&](const OpChange& op) {
      text.add_row({op_cell(op), type_cell(op), us_cell(op.time.base_us), us_cell(op.time.new_us),
                    delta_cell(op.time), percent_cell(op.time), share_cell(op.share),
                    std::string(matched_cell(op))},
                   {false, false, true, true, true, true, true, false});
    });
    table(fmt::format("Operators, {}", per_unit(comparison_.unit)), text, rest);
  }

  void types() {
    TextTable text({"Type", "Base Ops", "New Ops", "Base(us)", "New(us)", "Delta(us)", "Change(%)",
                    "Share(%)"});
    const auto rest = add_changed(comparison_.types, "type", [&](const TypeChange& type) {
      text.add_row(
          {type.type.empty() ? "-" : type.type, std::to_string(type.base_ops),
           std::to_string(type.new_ops), us_cell(type.time.base_us), us_cell(type.time.new_us),
           delta_cell(type.time), percent_cell(type.time), share_cell(type.share)},
          {false, true, true, true, true, true, true, true});
    });
    if (text.row_count() > 0) table("Types of operators", text, rest);
  }

  void ratios() {
    TextTable text({"Operator", "Ratio", "Base", "New"});
    std::size_t moved = 0;
    for (const OpChange& op : comparison_.ops) {
      for (const RatioChange& ratio : op.ratios) {
        if (moved++ >= style_.top) continue;
        text.add_row({op_cell(op), ratio.name, fmt::format("{:.3f}", ratio.base),
                      fmt::format("{:.3f}", ratio.now)},
                     {false, false, true, true});
      }
    }
    if (moved == 0) return;
    table("Ratios that moved", text,
          moved > style_.top ? fmt::format("{} more moved", moved - style_.top) : "");
  }

  // The call that took most of the time, which executes the model, is shown in any case.
  const CallChange* main_call() const {
    const CallChange* most = nullptr;
    double most_us = 0;
    for (const CallChange& call : comparison_.calls) {
      const double us = std::max(call.time.base_us.value_or(0) * double(call.base_count),
                                 call.time.new_us.value_or(0) * double(call.new_count));
      if (us <= most_us) continue;
      most = &call;
      most_us = us;
    }
    return most;
  }

  void calls() {
    if (comparison_.calls.empty()) return;
    TextTable text({"Call", "Base Count", "New Count", "Base(us)", "New(us)", "Delta(us)",
                    "Change(%)", "Noise"});
    const auto add = [&](const CallChange& call) {
      text.add_row({call.name, std::to_string(call.base_count), std::to_string(call.new_count),
                    us_cell(call.time.base_us), us_cell(call.time.new_us), delta_cell(call.time),
                    percent_cell(call.time), call.time.is_noise() ? "noise" : ""},
                   {false, true, true, true, true, true, true, false});
    };
    const CallChange* most = main_call();
    if (most != nullptr && most->time.is_noise()) add(*most);
    const auto rest = add_changed(comparison_.calls, "call", add);
    table("Calls on the host, one call", text, rest);
  }

  const Comparison& comparison_;
  TextStyle style_;
  std::string out_;
};

}  // namespace

std::string what_was_compared(const Comparison& comparison) {
  std::string base = joined(comparison.base.models, " + ");
  std::string now = joined(comparison.now.models, " + ");
  if (base.empty() || now.empty()) {
    base = joined(comparison.base.captures, ", ");
    now = joined(comparison.now.captures, ", ");
  }
  return base == now ? base : base + " → " + now;
}

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
  return Report(comparison, style).text();
}

namespace {

using nlohmann::ordered_json;

template <typename Value>
ordered_json json_of(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}
ordered_json json_of(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(valid_utf8(text));
}
ordered_json json_of(const std::vector<std::string>& texts) {
  ordered_json list = ordered_json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

ordered_json json_of(const ComparedSide& side) {
  return {{"captures", json_of(side.captures)},
          {"chip", json_of(side.chip)},
          {"frequency_mhz", json_of(side.frequency_mhz)},
          {"models", json_of(side.models)},
          {"batches", side.batches},
          {"devices", side.devices},
          {"executions", side.executions},
          {"pictures", json_of(side.pictures)}};
}

void add_time(const Change& change, ordered_json& object) {
  object["base_us"] = json_of(change.base_us);
  object["new_us"] = json_of(change.new_us);
  object["delta_us"] = change.delta_us();
  object["percent"] = json_of(change.percent());
  object["noise_us"] = change.noise_us;
  object["is_noise"] = change.is_noise();
}

std::string_view text_of(MatchedBy by) {
  switch (by) {
    case MatchedBy::name:
      return "name";
    case MatchedBy::shape:
      return "shape";
    case MatchedBy::fusion:
      return "fusion";
    case MatchedBy::unmatched:
      break;
  }
  return "unmatched";
}

ordered_json json_of(const OpChange& op) {
  ordered_json object = {{"base_names", json_of(op.base_names)},
                         {"new_names", json_of(op.new_names)},
                         {"base_type", json_of(op.base_type)},
                         {"new_type", json_of(op.new_type)},
                         {"unit", json_of(op.unit)},
                         {"matched_by", text_of(op.matched_by)}};
  add_time(op.time, object);
  object["base_count"] = op.base_count;
  object["new_count"] = op.new_count;
  object["share"] = op.share;
  object["ratios"] = ordered_json::array();
  for (const RatioChange& ratio : op.ratios)
    object["ratios"].push_back({{"name", ratio.name}, {"base", ratio.base}, {"new", ratio.now}});
  return object;
}

ordered_json json_of(const TypeChange& type) {
  ordered_json object = {
      {"type", json_of(type.type)}, {"base_ops", type.base_ops}, {"new_ops", type.new_ops}};
  add_time(type.time, object);
  object["share"] = type.share;
  return object;
}

ordered_json json_of(const CallChange& call) {
  ordered_json object = {
      {"name", json_of(call.name)}, {"base_count", call.base_count}, {"new_count", call.new_count}};
  add_time(call.time, object);
  return object;
}

template <typename Changes>
ordered_json list_of(const Changes& changes) {
  ordered_json list = ordered_json::array();
  for (const auto& change : changes) list.push_back(json_of(change));
  return list;
}

std::string csv_cell(const std::string& text) {
  std::string cell;
  append_csv_text(cell, text);
  return cell;
}

std::string csv_number(std::optional<double> value) {
  return value ? fmt::format("{:.3f}", *value) : "N/A";
}

}  // namespace

void add_comparison(const Comparison& comparison, ordered_json& document) {
  document["base"] = json_of(comparison.base);
  document["new"] = json_of(comparison.now);
  document["warnings"] = ordered_json::array();
  for (const ComparisonWarning& warning : comparison.warnings) {
    document["warnings"].push_back(
        {{"text", json_of(warning.text)},
         {"id", warning.id ? ordered_json(finding_info(*warning.id).id) : ordered_json()}});
  }
  document["unit"] = comparison.unit;
  document["noise_basis"] = comparison.noise_basis;
  document["verdict"] = verdict_name(comparison.verdict);
  ordered_json total;
  add_time(comparison.total, total);
  document["total"] = std::move(total);
  const MatchCounts& counts = comparison.matches;
  document["matches"] = {{"by_name", counts.by_name},
                         {"by_shape", counts.by_shape},
                         {"by_fusion", counts.by_fusion},
                         {"only_base", counts.only_base},
                         {"only_new", counts.only_new}};
  document["ops"] = list_of(comparison.ops);
  document["types"] = list_of(comparison.types);
  document["calls"] = list_of(comparison.calls);
}

std::string comparison_csv(const Comparison& comparison) {
  std::string csv =
      "Base Op,New Op,Base Type,New Type,Unit,Matched By,Base Time(us),New Time(us),Delta(us),"
      "Change(%),Noise(us),Is Noise,Share(%),Base Count,New Count\n";
  for (const OpChange& op : comparison.ops) {
    csv +=
        fmt::format("{},{},{},{},{},{},{},{},{:.3f},{},{:.3f},{},{:.3f},{},{}\n",
                    csv_cell(fmt::format("{}", fmt::join(op.base_names, "+"))),
                    csv_cell(fmt::format("{}", fmt::join(op.new_names, "+"))),
                    csv_cell(op.base_type), csv_cell(op.new_type), csv_cell(op.unit),
                    text_of(op.matched_by), csv_number(op.time.base_us), csv_number(op.time.new_us),
                    op.time.delta_us(), csv_number(op.time.percent()), op.time.noise_us,
                    op.time.is_noise() ? "yes" : "no", op.share, op.base_count, op.new_count);
  }
  return csv;
}

}  // namespace msprof
