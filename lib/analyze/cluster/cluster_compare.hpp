// Compares two clusters, or two runs of one: steps, ranks, collectives and operators. Used by
// `msprof compare`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/cluster/cluster_summary.hpp"
#include "analyze/compare/comparison.hpp"

namespace msprof {

// Change of one item: the mean and, if all single values are known, median and 95th percentile.
struct ClusterChange {
  std::string name;  // "step time", "17", "hcom_allReduce_ of 64 ranks", "MatMulV2_1"
  Change mean;
  std::optional<Change> median{};
  std::optional<Change> p95{};
  std::int64_t base_count = 0;
  std::int64_t new_count = 0;
};

struct ClusterChanges {
  std::string_view id;     // "steps"
  std::string_view title;  // "Steps"
  std::string_view key;    // title of the name column
  std::vector<ClusterChange> rows;
};

struct ComparedCluster {
  std::string name;
  std::string line;                  // "64 ranks on 8 hosts, 10 steps"
  std::vector<std::string> lacking;  // sentences about missing data
};

struct ClusterComparison {
  ComparedCluster base;
  ComparedCluster now;
  std::string unit;  // "step" or "run"
  Verdict verdict = Verdict::noise;
  Change total;              // median step time, by the slowest rank of each step
  double noise_percent = 0;  // applies to all compared times
  std::string noise_basis;
  std::vector<std::string> warnings;
  // Steps; then ranks, collectives and operators, largest changes first. Collectives are grouped by
  // operation and number of ranks.
  std::vector<ClusterChanges> sections;
};

struct ClusterSide {
  std::string name;
  const cluster::ClusterView* view;
};
ClusterComparison compare_clusters(const ClusterSide& base, const ClusterSide& now);

// Return an HTML page, and CSV with one row per item and statistic.
std::string cluster_comparison_page(const ClusterComparison& comparison);
// `excel`: see CsvWriter::write_for_excel().
std::string cluster_comparison_csv(const ClusterComparison& comparison, bool excel);
// Returns text for a terminal of `width` columns (0: no limit).
std::string cluster_comparison_text(const ClusterComparison& comparison, std::size_t top, int width,
                                    bool bold);

}  // namespace msprof
