#include "derive/pmu_samples.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace msprof {

namespace {

constexpr double kSampledGib8 = 8589934592.0;  // 2^33

// Bytes per event of metrics whose formula for samples differs from the one for tasks.
struct Weight {
  std::string_view metric;
  double factor;
};
constexpr std::array kWeights = {Weight{"ub_write_bw_vector(GB/s)", 128}};

// Moves column `metric` before `before`: tables of samples have another order than tables of tasks.
struct Place {
  std::string_view metric;
  std::string_view before;
};
constexpr std::array kPlaces = {Place{"l2_read_bw(GB/s)", "main_mem_read_bw(GB/s)"},
                                Place{"l2_write_bw(GB/s)", "main_mem_read_bw(GB/s)"}};

// Renames metrics that have another name in tables of samples.
void rename_metrics(std::vector<PmuMetric>& metrics, std::string_view set) {
  for (PmuMetric& metric : metrics) {
    if (set == "PipeUtilizationExct" && (metric.name == "mac_ratio" || metric.name == "mte1_ratio"))
      metric.name += "_extra";
    if (set == "MemoryAccess") {
      const std::size_t unit = std::min(metric.name.find('('), metric.name.size());
      metric.name = lower_ascii(metric.name.substr(0, unit)) + metric.name.substr(unit);
    }
  }
}

PmuMetric mte_bandwidth(const char* name, std::uint32_t event) {
  PmuMetric metric;
  metric.name = name;
  metric.formula = PmuFormula::bandwidth;
  metric.terms[0] = {event, 128};
  metric.term_count = 1;
  return metric;
}

auto find_metric(std::vector<PmuMetric>& metrics, std::string_view name) {
  return std::find_if(metrics.begin(), metrics.end(),
                      [&](const PmuMetric& metric) { return metric.name == name; });
}

double event_sum(const CoreSums& sums, std::uint32_t event) {
  const auto at = sums.events.find(event);
  return at == sums.events.end() ? 0 : at->second;
}

}  // namespace

std::vector<PmuMetric> pmu_sample_set(std::string_view name, int platform) {
  std::vector<PmuMetric> metrics = pmu_set(name, platform);
  metrics.erase(std::remove_if(metrics.begin(), metrics.end(),
                               [](const PmuMetric& metric) {
                                 return metric.formula == PmuFormula::share_time;
                               }),
                metrics.end());
  for (PmuMetric& metric : metrics) {
    const auto weight = std::find_if(kWeights.begin(), kWeights.end(), [&](const Weight& other) {
      return other.metric == metric.name;
    });
    if (weight != kWeights.end())
      for (std::size_t i = 0; i < metric.term_count; ++i) metric.terms[i].factor = weight->factor;
  }
  for (const Place& place : kPlaces) {
    const auto from = find_metric(metrics, place.metric);
    if (from == metrics.end()) continue;
    PmuMetric moved = std::move(*from);
    metrics.erase(from);
    metrics.insert(find_metric(metrics, place.before), std::move(moved));
  }
  rename_metrics(metrics, name);
  constexpr int kAscend310 = 0;
  if (const auto fops = find_metric(metrics, "vector_fops");
      fops != metrics.end() && platform == kAscend310) {
    for (PmuTerm& term : fops->terms)
      if (term.event == 0x4b) term.factor = 32;
  }
  constexpr int kAscend310b = 7;
  if (name == "MemoryUB" && platform != kAscend310b) {
    metrics.insert(metrics.begin(), {mte_bandwidth("ub_read_bw_mte(GB/s)", 0x3d),
                                     mte_bandwidth("ub_write_bw_mte(GB/s)", 0x3e)});
  }
  return metrics;
}

bool has_events(const PmuMetric& metric, const std::map<std::uint32_t, double>& events) {
  return metric.term_count > 0 &&
         std::all_of(metric.terms.begin(),
                     metric.terms.begin() + static_cast<std::ptrdiff_t>(metric.term_count),
                     [&](const PmuTerm& term) { return events.contains(term.event); });
}

double pmu_sample_value(const PmuMetric& metric, const CoreSums& sums, double frequency_hz) {
  double sum = 0;
  switch (metric.formula) {
    case PmuFormula::count:
      return event_sum(sums, metric.terms[0].event);
    case PmuFormula::quotient: {
      const double whole = event_sum(sums, metric.terms[0].event);
      return whole == 0 ? 0 : event_sum(sums, metric.terms[1].event) / whole;
    }
    case PmuFormula::share:
      for (std::size_t i = 0; i < metric.term_count; ++i)
        sum += event_sum(sums, metric.terms[i].event);
      return sums.cycles == 0 ? 0 : sum / sums.cycles;
    default:
      break;
  }
  for (std::size_t i = 0; i < metric.term_count; ++i)
    sum += event_sum(sums, metric.terms[i].event) * metric.terms[i].factor;
  if (metric.formula != PmuFormula::bandwidth) return sum;
  if (sums.cycles == 0 || frequency_hz <= 0) return 0;
  return sum / (sums.cycles / frequency_hz) / kSampledGib8;
}

double memory_bound(double mte2, double mac, double vec) {
  const double most = std::max(mac, vec);
  return most == 0 ? 0 : mte2 / most;
}

}  // namespace msprof
