// Makes the merged summary of a ClusterRun.
#pragma once

#include <filesystem>
#include <vector>

#include "cluster/merge.hpp"
#include "cluster/part.hpp"
#include "support/ranks/cluster_run.hpp"
#include "support/ranks/rank_part_file.hpp"

namespace msprof::test {

// Writes `folder`/cluster.db; `detail_rows` is the option of `msprof merge`.
inline cluster::Part make_cluster(const std::filesystem::path& folder,
                                  const ranks::ClusterShape& shape,
                                  std::int64_t detail_rows = 50'000'000) {
  const ranks::ClusterRun run(shape);
  std::vector<std::filesystem::path> parts;
  for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
    if (shape.faults.missing.contains(rank)) continue;
    parts.push_back(folder / ranks::part_name(rank));
    ranks::write_rank_part_file(parts.back(), run, rank);
  }
  cluster::MergeOptions options;
  options.detail_rows = detail_rows;
  cluster::merge_parts(parts, folder / "cluster.db", options);
  for (const auto& part : parts) std::filesystem::remove(part);
  return cluster::Part::open(folder / "cluster.db");
}

}  // namespace msprof::test
