// The page of a cluster, cluster.html: one file that needs no network. A heat map of ranks and
// steps, the ranks of a chosen step, what was found and what to do, tables. For `msprof export
// cluster`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/cluster/cluster_summary.hpp"
#include "analyze/compare/html_parts.hpp"
#include "cluster/products/products.hpp"

namespace msprof {

// What an analysis found, in sentences.
struct ClusterFinding {
  std::string what;
  std::vector<std::string> evidence;
  std::string remedy;  // empty: none
};

// Rows and columns of the map. Beyond it neighbours share one, which then shows the longest of
// them: a page stays below some MB.
inline constexpr std::size_t kMostMapRows = 2'000;
inline constexpr std::size_t kMostMapColumns = 400;
inline constexpr std::size_t kMostMapCells = 100'000;

// `findings`: null where nobody looked.
std::string cluster_page(const cluster::ClusterView& view, const ClusterSummary& summary,
                         const std::vector<ClusterFinding>* findings);

// The vendor's files and the page. Throws Error(cannot_write, partial_data).
cluster::ClusterProducts write_cluster_outputs(
    const cluster::Part& part, const std::filesystem::path& folder,
    const cluster::ClusterProductOptions& options = {},
    const std::vector<ClusterFinding>* findings = nullptr);

extern const html::Asset kClusterStyle;
extern const html::Asset kClusterScript;

}  // namespace msprof
