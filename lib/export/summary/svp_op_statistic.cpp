// op_statistic: one row per operator name and unit of a capture, longest total time first.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"

namespace msprof {

namespace {

using svp::LayerTotal;
using svp::SvpCapture;

constexpr std::array<std::string_view, 10> kOpStatisticColumns = {
    "Task ID",        "Stream ID", "OP Name", "Task Type", "Total Time Ratio(%)",
    "Total Time(us)", "Count",     "Avg(us)", "Max(us)",   "Min(us)"};

struct LayerGroup {
  std::string name;
  bool is_on_cpu = false;
  std::int64_t task_id = 0;
  std::int64_t count = 0;
  std::int64_t first_start_ns = INT64_MAX;
  std::optional<Fraction> weight;   // for the share
  Fraction rank;                    // weight if known, else a sum for sorting
  std::optional<Fraction> time_ns;  // of all records
  std::optional<std::int64_t> longest_ns;
  std::optional<std::int64_t> shortest_ns;
};

std::optional<Fraction> added(const std::optional<Fraction>& a, const std::optional<Fraction>& b) {
  return svp::sum({a, b});
}

// Without a frequency no shares can be computed if CPU operators ran, too. Cycles and ns still sort
// the layers of each kind.
Fraction sort_weight(const LayerTotal& layer, const std::optional<Fraction>& weight) {
  if (weight) return *weight;
  if (layer.is_on_cpu) return Fraction(layer.duration_sum_ns.value_or(0), 1);
  return Fraction(layer.counters[svp::kTotalCycles].value_or(0), 1);
}

std::vector<LayerGroup> group_layers(const std::vector<LayerTotal>& layers,
                                     const std::vector<std::optional<Fraction>>& weights,
                                     std::optional<std::int64_t> frequency_hz) {
  std::vector<LayerGroup> groups;
  std::map<std::pair<std::string, bool>, std::size_t> known;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerTotal& layer = layers[i];
    const auto [at, is_new] = known.try_emplace({layer.name, layer.is_on_cpu}, groups.size());
    if (is_new) {
      groups.push_back({layer.name, layer.is_on_cpu, 0, layer.count, layer.first_start_ns,
                        weights[i], sort_weight(layer, weights[i]), layer.time_ns(frequency_hz),
                        layer.longest_ns, layer.shortest_ns});
      continue;
    }
    LayerGroup& group = groups[at->second];
    group.count += layer.count;
    group.first_start_ns = std::min(group.first_start_ns, layer.first_start_ns);
    group.weight = added(group.weight, weights[i]);
    group.rank += sort_weight(layer, weights[i]);
    group.time_ns = added(group.time_ns, layer.time_ns(frequency_hz));
    const bool both = group.longest_ns && layer.longest_ns;
    group.longest_ns =
        both ? std::optional(std::max(*group.longest_ns, *layer.longest_ns)) : std::nullopt;
    group.shortest_ns =
        both ? std::optional(std::min(*group.shortest_ns, *layer.shortest_ns)) : std::nullopt;
  }
  return groups;
}

void number_by_first_execution(std::vector<LayerGroup>& groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const LayerGroup& a, const LayerGroup& b) {
    return a.first_start_ns < b.first_start_ns;
  });
  std::int64_t number = 0;
  for (LayerGroup& group : groups) group.task_id = number++;
}

void sort_longest_first(std::vector<LayerGroup>& groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const LayerGroup& a, const LayerGroup& b) {
    if (a.rank < b.rank || b.rank < a.rank) return b.rank < a.rank;
    return std::tie(a.name, a.is_on_cpu) < std::tie(b.name, b.is_on_cpu);
  });
}

class SvpOpStatistic : public SummaryTable {
 public:
  SvpOpStatistic()
      : SummaryTable({.name = "op_statistic",
                      .title = "Op statistic",
                      .help = "total, mean, longest and shortest time of every operator",
                      .needs = {"aicore|aicpu", true},
                      .is_shown = true,
                      .dialect = Dialect::svp}) {}
  std::vector<std::string> columns(const Database&) const override {
    return {kOpStatisticColumns.begin(), kOpStatisticColumns.end()};
  }

  std::vector<OutputFile> output_files(const Database& db) const override {
    std::vector<OutputFile> output_files;
    for (const SvpCapture& capture : svp::captures_with_tasks(db)) {
      output_files.push_back(
          {fmt::format("op_statistic_{}_{}_{}_{}", capture.model.device_id, capture.model.model_id,
                       capture.current_pic_count, capture.number),
           capture.step_id, capture.model.row, 0});
    }
    return output_files;
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const SvpCapture capture = svp::capture(db, output_file.step_id);
    const auto layers = svp::layer_totals(db, capture);
    const auto weights = svp::weights(layers, capture.model.frequency_hz, false);
    const auto whole = svp::sum(weights);
    auto groups = group_layers(layers, weights, capture.model.frequency_hz);
    number_by_first_execution(groups);
    sort_longest_first(groups);
    for (const LayerGroup& group : groups) write_row(out, group, whole);
  }

 private:
  static void write_row(RowBuilder& out, const LayerGroup& group,
                        const std::optional<Fraction>& whole) {
    out.number(group.task_id);
    out.number(std::int64_t{0});  // an svp board has one stream
    out.text(group.name);
    out.text(group.is_on_cpu ? "AA_CPU" : "AA_CORE");
    out.number_or_missing(svp::percent(group.weight, whole));
    const auto format_us = [](const std::optional<Fraction>& ns, std::int64_t parts) {
      if (!ns) return std::optional<std::string>();
      return std::optional(Fraction(ns->numerator(), ns->denominator() * 1000 * parts).fixed(1, 3));
    };
    out.number_or_missing(format_us(group.time_ns, 1));
    out.number(group.count);
    out.number_or_missing(format_us(group.time_ns, group.count));
    for (const auto& ns : {group.longest_ns, group.shortest_ns}) {
      out.number_or_missing(ns ? std::optional(us_from_ns(*ns)) : std::nullopt);
    }
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_svp_op_statistic() {
  return std::make_unique<SvpOpStatistic>();
}

}  // namespace msprof
