// The PROF folder of a rank of a ClusterRun, as its collector would write it. For tests that import
// many ranks, and for benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/ranks/cluster_run.hpp"

namespace msprof::test::ranks {

// Number of kernels before each collective that gives a rank about shape.tasks kernels.
std::int64_t kernels_before_collective(const ClusterShape& shape);

// Makes parent/capture_name(rank) and returns its path. A kernel needs about 4 us of
// shape.compute_ns, so that the host stays ahead of the device.
std::filesystem::path write_rank_folder(const std::filesystem::path& parent, const ClusterRun& run,
                                        std::int64_t rank);

}  // namespace msprof::test::ranks
