// The products of a cluster's merged file. For `msprof cluster` and `msprof export cluster`.
#pragma once

#include <filesystem>

#include "cluster/products/products.hpp"

namespace msprof {

// Makes the products of OUTPUT/cluster.db, which is whole, in OUTPUT, and reports them. Throws
// Error(cannot_write, partial_data).
void write_cluster_products(const std::filesystem::path& output);

// Says what was written, and what it lacks.
void print_cluster_products(const cluster::ClusterProducts& products);

}  // namespace msprof
