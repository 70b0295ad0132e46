// ai_core_utilization, ai_vector_core_utilization: metrics of every core over the whole run, from
// sampled counters, and the mean of the cores. Source: cann_device.md 6.4.
#include <algorithm>
#include <array>

#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/core_sums.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

constexpr std::string_view kMemoryBound = "memory_bound";

class CannCoreUtilization : public cann::CannTable {
 public:
  CannCoreUtilization(const TableInfo& info, std::string_view kind)
      : CannTable(info, {}), kind_(kind) {}

  std::vector<std::string> columns(const Database& db) const override {
    std::vector<std::string> all{"Device_id", "Core ID"};
    const auto metrics = sampled_metric_names(db, kind_);
    all.insert(all.end(), metrics.begin(), metrics.end());
    if (find_bound(metrics)) all.emplace_back(kMemoryBound);
    return all;
  }

  std::vector<OutputFile> output_files(const Database& db) const override {
    return sampled_metric_names(db, kind_).empty() ? std::vector<OutputFile>{}
                                                   : CannTable::output_files(db);
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const auto names = sampled_metric_names(db, kind_);
    const auto bound = find_bound(names);
    for (const SampledDevice& device : sampled_devices(db, kind_, output_file.scope)) {
      const auto row = [&](std::string_view core, const std::vector<std::optional<double>>& cells) {
        out.number(device.id);
        out.text(core);
        for (const auto& cell : cells) {
          cell ? cann::python_rounded3(out, *cell) : out.missing();
        }
        if (bound) write_bound(out, cells, *bound);
        out.end_row();
      };
      // Means of the rounded values, as printed.
      std::vector<cann::Mean> means(names.size());
      for (const auto& [number, sums] : device.cores) {
        std::vector<std::optional<double>> cells(names.size());
        for (const PmuMetric& metric : device.metrics) {
          const auto at = static_cast<std::size_t>(
              std::find(names.begin(), names.end(), metric.name) - names.begin());
          cells[at] = python_round(pmu_sample_value(metric, sums, device.frequency_hz), 3);
          means[at].add(*cells[at]);
        }
        row("Core" + std::to_string(number), cells);
      }
      std::vector<std::optional<double>> average(names.size());
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (means[i].count() > 0) average[i] = python_round(means[i].value(), 3);
      }
      row("Average", average);
    }
  }

 private:
  using Bound = std::array<std::size_t, 3>;  // mte2, mac, vec

  static std::optional<Bound> find_bound(const std::vector<std::string>& names) {
    Bound bound{};
    constexpr std::string_view kOf[] = {"mte2_ratio", "mac_ratio", "vec_ratio"};
    for (std::size_t i = 0; i < bound.size(); ++i) {
      const auto at = std::find(names.begin(), names.end(), kOf[i]);
      if (at == names.end()) return std::nullopt;
      bound[i] = static_cast<std::size_t>(at - names.begin());
    }
    return bound;
  }

  static void write_bound(RowBuilder& out, const std::vector<std::optional<double>>& cells,
                          const Bound& bound) {
    const auto& [mte2, mac, vec] = bound;
    if (!cells[mte2] || !cells[mac] || !cells[vec]) return out.missing();
    cann::python_rounded3(out, memory_bound(*cells[mte2], *cells[mac], *cells[vec]));
  }

  std::string_view kind_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_core_utilization() {
  return std::make_unique<CannCoreUtilization>(
      TableInfo{.name = "ai_core_utilization",
                .title = "AI core utilization",
                .help = "metrics of each AI core over the run, from sampled counters",
                .exists = exists_counters(kSampledCores),
                .needs = {"core_samples"},
                .group = kCounterLayers},
      kSampledCores);
}

std::unique_ptr<SummaryTable> make_cann_vector_core_utilization() {
  return std::make_unique<CannCoreUtilization>(
      TableInfo{.name = "ai_vector_core_utilization",
                .title = "AI vector core utilization",
                .help = "metrics of each vector core over the run, from sampled counters",
                .exists = exists_counters(kSampledVectorCores),
                .needs = {"core_samples|vector_core_samples"},
                .group = kCounterLayers},
      kSampledVectorCores);
}

}  // namespace msprof
