// Describes a cluster.db in one line, for `list`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cluster/merge.hpp"

namespace msprof {

struct ListedCluster {
  std::filesystem::path file;
  std::int64_t time_ns = 0;   // start of the earliest capture since 1970, else time of the file
  std::int64_t captures = 0;  // captures that were merged
  cluster::Ranks ranks;
  std::uint64_t bytes = 0;
  std::string problem;  // why it cannot be read; empty: readable
};

// Reads only the members, without verifying the checksum.
ListedCluster describe_cluster(const std::filesystem::path& file);

// Returns "64 ranks on 8 hosts", "7 ranks on 1 host, MISSING: 1 rank (5)", or "cannot be read".
std::string cluster_verdict(const ListedCluster& cluster);

}  // namespace msprof
