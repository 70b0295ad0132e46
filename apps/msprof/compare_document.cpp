// A Comparison as JSON and as CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "export/table_writers.hpp"
#include "msprof/compare_output.hpp"

namespace msprof {

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
