// What changed between two clusters, or two runs of one: steps, ranks, collectives, operators. For
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

// What is compared of one thing: its mean, and where every single value is known its median and
// its 95th percentile.
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
  std::string_view key;    // title of the column of names
  std::vector<ClusterChange> rows;
};

struct ComparedCluster {
  std::string name;
  std::string line;                  // "64 ranks on 8 hosts, 10 steps"
  std::vector<std::string> lacking;  // sentences
};

struct ClusterComparison {
  ComparedCluster base;
  ComparedCluster now;
  std::string unit;  // "step" or "run"
  Verdict verdict = Verdict::noise;
  Change total;              // the median time of a step, that of its slowest rank
  double noise_percent = 0;  // of every time that is compared
  std::string noise_basis;
  std::vector<std::string> warnings;
  // Steps; ranks, collectives and operators, the largest changes first. Collectives are of an
  // operation and a number of ranks.
  std::vector<ClusterChanges> sections;
};

struct ClusterSide {
  std::string name;
  const cluster::ClusterView* view;
};
ClusterComparison compare_clusters(const ClusterSide& base, const ClusterSide& now);

// One page; all as CSV, a row a thing.
std::string cluster_comparison_page(const ClusterComparison& comparison);
// `excel`: as CsvWriter::write_for_excel().
std::string cluster_comparison_csv(const ClusterComparison& comparison, bool excel);
// For a terminal `width` columns wide, 0: no limit.
std::string cluster_comparison_text(const ClusterComparison& comparison, std::size_t top, int width,
                                    bool bold);

}  // namespace msprof
