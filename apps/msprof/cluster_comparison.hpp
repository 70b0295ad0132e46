// msprof compare of two clusters.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "analyze/cluster/cluster_compare.hpp"

namespace msprof {

// Both sides, where they are files of clusters. Throws Error(usage) where only one is.
std::optional<std::pair<std::filesystem::path, std::filesystem::path>> cluster_sides(
    const std::string& base, const std::string& now);

ClusterComparison compare_cluster_files(const std::filesystem::path& base,
                                        const std::filesystem::path& now);

// The fields of the document of --json, at most `top` rows a table.
void add_cluster_comparison(const ClusterComparison& comparison, std::size_t top,
                            nlohmann::ordered_json& document);

}  // namespace msprof
