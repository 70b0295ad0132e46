// The part that a rank of a ClusterRun comes to, without a capture: what `msprof rank` would make
// of one. For tests and benchmarks of merging and of what clusters are told.
#pragma once

#include <filesystem>

#include "support/ranks/cluster_run.hpp"

namespace msprof::test::ranks {

// Writes the part of `rank`.
void write_rank_part_file(const std::filesystem::path& file, const ClusterRun& run,
                          std::int64_t rank);
// "rank_00017.part"
std::string part_name(std::int64_t rank);

}  // namespace msprof::test::ranks
