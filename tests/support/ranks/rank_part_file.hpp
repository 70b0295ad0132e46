// The summary of a rank of a ClusterRun, written without a capture; equals what `msprof rank` would
// make. For tests and benchmarks of merging and of cluster findings.
#pragma once

#include <filesystem>

#include "support/ranks/cluster_run.hpp"

namespace msprof::test::ranks {

void write_rank_part_file(const std::filesystem::path& file, const ClusterRun& run,
                          std::int64_t rank);
// "rank_00017.part"
std::string part_name(std::int64_t rank);

}  // namespace msprof::test::ranks
