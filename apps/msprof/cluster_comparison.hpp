// msprof compare for two clusters.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "analyze/cluster/cluster_compare.hpp"

namespace msprof {

// Returns baseline and candidate if both are cluster files. Throws Error(usage) if only one is.
std::optional<std::pair<std::filesystem::path, std::filesystem::path>> cluster_sides(
    const std::string& base, const std::string& now);

ClusterComparison compare_cluster_files(const std::filesystem::path& base,
                                        const std::filesystem::path& now);

// Adds the fields of the --json document, with at most `top` rows per table.
void add_cluster_comparison(const ClusterComparison& comparison, std::size_t top,
                            nlohmann::ordered_json& document);

}  // namespace msprof
