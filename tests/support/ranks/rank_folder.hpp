// The PROF folder that a rank of a ClusterRun leaves, as its collector writes it. For tests that
// import many ranks, and for benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/ranks/cluster_run.hpp"

namespace msprof::test::ranks {

// How many kernels run before each collective, so that a rank has about shape.tasks of them.
std::int64_t kernels_before_collective(const ClusterShape& shape);

// Makes parent/capture_name(rank) and returns its path. A kernel needs some 4 us of
// shape.compute_ns, so that the host is ahead of the device.
std::filesystem::path write_rank_folder(const std::filesystem::path& parent, const ClusterRun& run,
                                        std::int64_t rank);

}  // namespace msprof::test::ranks
