// What a run over many ranks makes of its merged file. For `msprof cluster`.
#pragma once

#include <filesystem>

namespace msprof {

// Makes the products of OUTPUT/cluster.db in OUTPUT/cluster_analysis_output.
void write_cluster_products(const std::filesystem::path& output);

}  // namespace msprof
