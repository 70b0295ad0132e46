// Products of a cluster's merged file. For `msprof cluster` and `msprof export cluster`.
#pragma once

#include <filesystem>

#include "cluster/products/products.hpp"

namespace msprof {

// Writes the products of OUTPUT/cluster.db, which must be complete, to OUTPUT and reports them.
// Throws Error(cannot_write, partial_data).
void write_cluster_products(const std::filesystem::path& output);

// Reports the written products and what is missing from them.
void print_cluster_products(const cluster::ClusterProducts& products);

}  // namespace msprof
