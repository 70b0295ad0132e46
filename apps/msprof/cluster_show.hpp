// msprof show of a cluster.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/error.hpp"

namespace msprof {

// Prints what each cluster has, at most `top` rows a table, or adds it to "clusters" of `document`.
// Exit::partial_data where ranks are missing or partial.
Exit show_clusters(const std::vector<std::filesystem::path>& files, std::size_t top, bool json,
                   nlohmann::ordered_json& document);

}  // namespace msprof
