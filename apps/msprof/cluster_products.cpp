#include "msprof/cluster_products.hpp"

#include "analyze/cluster/cluster_page.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

void write_cluster_products(const std::filesystem::path& output) {
  const cluster::Part part = cluster::Part::open(output / "cluster.db");
  print_cluster_products(write_cluster_outputs(part, output));
}

void print_cluster_products(const cluster::ClusterProducts& products) {
  for (const std::string& note : products.notes) log::warn("{}", note);
  for (const std::filesystem::path& path : products.files)
    log::info("wrote {} ({})", path.string(), human_bytes(std::filesystem::file_size(path)));
}

}  // namespace msprof
