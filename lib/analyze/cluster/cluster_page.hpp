// Creates cluster.html, a self-contained page about a cluster: heat map of ranks and steps, details
// of a selected step, findings with remedies, and tables. Used by `msprof export cluster`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/cluster/cluster_findings.hpp"
#include "analyze/cluster/cluster_summary.hpp"
#include "analyze/compare/html_parts.hpp"
#include "cluster/products/products.hpp"

namespace msprof {

// Size limits of the heat map, to keep the page within a few MB. Beyond them neighbours share a
// cell, which shows the longest step.
inline constexpr std::size_t kMaxMapRows = 2'000;
inline constexpr std::size_t kMaxMapColumns = 400;
inline constexpr std::size_t kMaxMapCells = 100'000;

// `findings`: null if the rules were not applied.
std::string cluster_page(const cluster::ClusterView& view, const ClusterSummary& summary,
                         const std::vector<ClusterFinding>* findings);

// Aligns host clocks, applies the rules, and writes the vendor's files and the page. Replaces
// `options.shifts`. Throws Error(cannot_write), Error(partial_data).
cluster::ClusterProducts write_cluster_outputs(const cluster::Part& part,
                                               const std::filesystem::path& folder,
                                               cluster::ClusterProductOptions options = {});

extern const html::Asset kClusterStyle;
extern const html::Asset kClusterScript;

}  // namespace msprof
