// The page of a cluster, cluster.html: one file that needs no network. A heat map of ranks and
// steps, the ranks of a chosen step, what was found and what to do, tables. For `msprof export
// cluster`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/cluster/cluster_findings.hpp"
#include "analyze/cluster/cluster_summary.hpp"
#include "analyze/compare/html_parts.hpp"
#include "cluster/products/products.hpp"

namespace msprof {

// Rows and columns of the map. Beyond it neighbours share one, which then shows the longest of
// them: a page stays below some MB.
inline constexpr std::size_t kMaxMapRows = 2'000;
inline constexpr std::size_t kMaxMapColumns = 400;
inline constexpr std::size_t kMaxMapCells = 100'000;

// `findings`: null where nobody looked.
std::string cluster_page(const cluster::ClusterView& view, const ClusterSummary& summary,
                         const std::vector<ClusterFinding>* findings);

// Aligns the clocks of hosts, looks for what is slow and writes the vendor's files and the page.
// The shifts of `options` are found here. Throws Error(cannot_write, partial_data).
cluster::ClusterProducts write_cluster_outputs(const cluster::Part& part,
                                               const std::filesystem::path& folder,
                                               cluster::ClusterProductOptions options = {});

extern const html::Asset kClusterStyle;
extern const html::Asset kClusterScript;

}  // namespace msprof
