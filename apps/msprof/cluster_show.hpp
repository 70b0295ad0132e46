// msprof show for a cluster.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/error.hpp"

namespace msprof {

// Prints the tables of each cluster with at most `top` rows per table, or adds them to "clusters"
// of `document`. Exit::partial_data if ranks are missing or incomplete.
Exit show_clusters(const std::vector<std::filesystem::path>& files, std::size_t top, bool json,
                   nlohmann::ordered_json& document);

}  // namespace msprof
